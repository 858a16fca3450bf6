// The contacts of a world: found in its present shape, answered in a step. docs/theory/world.md
#ifndef TDL_WORLD_CONTACTS_H
#define TDL_WORLD_CONTACTS_H

#include "body/body.h"
#include "tendril/world.h"

typedef struct Contacts Contacts;

// Overlap, in radii, at which a step is undone; contacts of a deeper one from the start are let be.
static const double CONTACTS_DEEP = 0.5;

TdlStatus contacts_create(TdlWorld* world, Contacts** out);
void contacts_destroy(Contacts* contacts);

// What detection found in the present shape.
typedef struct ContactsFound {
    int count;
    double deepest; // m, the least gap; 0 when there is no contact
    double worst;   // the least gap over the thinner of the two radii, without those that were so
                    // deep when the bodies were placed; 0 when there is no contact
    double fresh;   // the same of contacts that are new or deeper than before the step
    double closing; // m/s, the fastest closing of a gap in the step that led here
    int crossed;    // pairs that passed through each other in the step that led here
    const Body* pair[2]; // one of those, or the worst; null: none
} ContactsFound;

// Finds the contacts of the present shape, after a step of `dt` (0: none was made) and before one
// of `next`. Impulses are carried over to contacts that go on.
TdlStatus contacts_find(TdlWorld* world, double dt, double next, ContactsFound* out);

// Finds them as they are, at gaps up to `reach` at least, where they were not found so yet.
TdlStatus contacts_find_near(TdlWorld* world, double reach);

// Before the first attempt at a step, and at the end of one that is going to be undone: keeps in
// mind which contacts came close.
void contacts_start_interval(TdlWorld* world);
TdlStatus contacts_note_missed(Contacts* contacts);

// After contacts were solved: keeps in mind what they and the bodies came to in this attempt.
TdlStatus contacts_note_tried(TdlWorld* world);

// In the shape before an attempt: takes the forces that it found for the guess, and for expected.
void contacts_guess_tried(Contacts* contacts);

// At the end of a step that is going to be done again since places overlap anew: keeps in mind
// where; and, in the shape before that step, makes contacts of these places, beside those known.
TdlStatus contacts_note_sunk(Contacts* contacts, bool again);
TdlStatus contacts_hold_sunk(TdlWorld* world, bool again);

// Looks again in the shape before that step, up to a gap for bodies that come so much closer, and
// marks those that came close: they take part in the next solve.
TdlStatus contacts_widen(TdlWorld* world, double reach);

// Whether contacts were found since the bodies were last changed from outside, and how many.
bool contacts_ready(const Contacts* contacts);
void contacts_forget(Contacts* contacts);
int contacts_count(const Contacts* contacts);
double contacts_worst(const Contacts* contacts); // the least gap in radii; 0 when there is none

// Bodies are kept clear of each other near other places than before: which contacts are left out is
// found anew.
void contacts_clear_again(TdlWorld* world, const Body* a, const Body* b);

// Tells every body whether contacts that may take part in the next attempt are at it.
void contacts_tell_near(TdlWorld* world);

// Before a step: looks for the contacts of bodies that were changed from outside, tells of those
// that overlap, and refuses them where the world's definition says so.
// `energy` receives what parting them took, J.
TdlStatus contacts_look_at_start(TdlWorld* world, double* energy);

// Puts bodies that are inside each other, or through each other's triangles, beside each other;
// TDL_STATUS_BAD_INPUT, by name, where that cannot be.
TdlStatus contacts_part_placed(TdlWorld* world, double* energy);

// Bodies were added or removed: what detection sees is laid out anew.
void contacts_lay_out_again(Contacts* contacts);

// Before bodies are predicted: tells them the forces that the contacts of a step of dt had.
void contacts_expect(Contacts* contacts, double dt);

// What answering the contacts did.
typedef struct ContactsSolved {
    int count;   // contacts that took part
    int skipped; // candidates that were too far to take part
    int iterations;
    double effort; // multiplications of the solver
    double error;  // relative, of the solver
    double news;   // how far forces are from those that were expected, as a part of them
    bool converged;
    double friction, impact, work; // J
    double back;                   // J, by taking back what slid
    double stored;                 // J, that contacts hold at the end
    bool imposed; // velocities are as the response wants to look at them: rounds end
    double build_seconds, solve_seconds;
} ContactsSolved;

typedef struct ContactsRound {
    bool same;        // the contacts were solved in this attempt already: only v_free is another
    double tolerance; // of the solve, relative: bodies may be further off than the world's own
    double allowed;   // multiplications
} ContactsRound;

// After every body was predicted: what the contacts of a step do to the bodies, by the response
// that the world is defined with. Adds to the bodies' v_free.
TdlStatus contacts_solve(TdlWorld* world, const BodyStep* step, const ContactsRound* round,
                         ContactsSolved* out);
// Whether bodies of nodes that are far apart are among those that may touch.
bool contacts_has_sheets(const Contacts* contacts);
// Whether there is anything to be answered in the next attempt.
bool contacts_ask(const Contacts* contacts);

// What a response makes of an attempt, once the contacts of the shape that it led to are known.
typedef enum ContactsVerdict {
    CONTACTS_STAY,
    CONTACTS_AGAIN,    // it is undone, and contacts are solved once more, knowing that shape
    CONTACTS_UNSOLVED, // they are not solved, and will not be in a step as long
    CONTACTS_REFUSED,  // nor may the attempt ever be kept
} ContactsVerdict;

// Whether the response goes by the shape at the end of a step; then the verdict, `solved` being
// what contacts_solve told.
bool contacts_look_back(const Contacts* contacts);
TdlStatus contacts_check(TdlWorld* world, const BodyStep* step, const ContactsFound* found,
                         ContactsSolved* solved, ContactsVerdict* out);
// After the last of these: sets the push of bodies that overlap.
TdlStatus contacts_push(TdlWorld* world);

// The contacts and impulses as bytes.
size_t contacts_state_size(const Contacts* contacts);
void contacts_save_state(const Contacts* contacts, void* bytes);
TdlStatus contacts_load_state(TdlWorld* world, const void* bytes, size_t size);

// What is told of a world and is no part of its state: the forces of the last step.
TdlStatus contacts_copy_told(const Contacts* from, Contacts* to);

// The forces of a step: those of its parts, each by its share of the time, follow each other. What
// an attempt adds goes with it unless it is kept. Over how long they are the mean is known at the
// end.
void contacts_start_step(Contacts* contacts);
void contacts_start_attempt(Contacts* contacts);
void contacts_keep_attempt(Contacts* contacts);
void contacts_end_step(TdlWorld* world);
const TdlContactForce* contacts_forces(const Contacts* contacts, int* count);

#endif
