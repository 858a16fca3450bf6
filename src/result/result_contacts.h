// The contacts of all frames in /contacts, frame after frame: one row a contact, a set a column.
// /frames/contact_end tells where the rows of a frame end.
#ifndef TDL_RESULT_RESULT_CONTACTS_H
#define TDL_RESULT_RESULT_CONTACTS_H

#include "tendril/result.h"

#include <hdf5.h>

enum { CONTACT_COLUMNS = 11 };

typedef struct ContactSets {
    TdlHost host;
    hid_t sets[CONTACT_COLUMNS];
    hsize_t chunk_rows[CONTACT_COLUMNS];
    hsize_t row_count;
    double* scratch; // numbers of one column
    size_t scratch_size;
} ContactSets;

// No sets; may be closed.
ContactSets contact_sets_none(const TdlHost* host);
void contact_sets_close(ContactSets* sets);

// Scratch for `count` contacts, which must be there before they are written or read.
TdlStatus contact_sets_reserve(ContactSets* sets, int count);

// --- writing; false: HDF5 failed -----------------------------------------------------------------
bool contact_sets_create(ContactSets* sets, hid_t file);
bool contact_sets_append(ContactSets* sets, const TdlResultContact* contacts, int count);
bool contact_sets_flush(const ContactSets* sets);

// --- reading -------------------------------------------------------------------------------------
// Opens the sets of a file of that version; on failure *what says what is wrong with which.
bool contact_sets_open(ContactSets* sets, hid_t file, int version, const char** what);

// Rows [first, first + count) of the file at `path`; on failure *what says why.
bool contact_sets_read(ContactSets* sets, const char* path, hsize_t first, int count,
                       TdlResultContact* out, const char** what);

#endif
