// Contacts in result.h5.
#include "result/result_contacts.h"

#include "tendril/result.h"

// Few, for a scene with few contacts.
enum { CHUNK_ROWS = 512 };

typedef enum ContactColumn {
    CONTACT_KIND = 0,
    CONTACT_INDEX,
    CONTACT_ELEMENT,
    CONTACT_U,
    CONTACT_POINT,
    CONTACT_NORMAL,
    CONTACT_FORCE,
    CONTACT_GAP,
    CONTACT_MU,
    CONTACT_SLIDING,
    CONTACT_V,
    CONTACT_COLUMNS,
} ContactColumn;

static const RowColumn COLUMNS[CONTACT_COLUMNS] = {
    [CONTACT_KIND] = {"kind", "1",
                      "what touches: 0 a rod, 1 a rigid body, 2 a collider, 3 a cloth, 4 grains",
                      TYPE_INT32, 2, 2},
    [CONTACT_INDEX] = {"index", "1", "which of its kind, from 0", TYPE_INT32, 2, 2},
    [CONTACT_ELEMENT] =
        {"element", "1",
         "element of a rod; triangle of a surface whose vertices move; node of a grid", TYPE_INT32,
         2, 2},
    [CONTACT_U] = {"s", "1", "u of the place: along a curve, or share of a triangle's 2nd corner",
                   TYPE_FLOAT32, 2, 2},
    [CONTACT_POINT] = {"point", "m", "where the first body's surface was touched", TYPE_FLOAT32, 3,
                       2},
    [CONTACT_NORMAL] = {"normal", "1", "from the first body to the second", TYPE_FLOAT32, 3, 2},
    [CONTACT_FORCE] = {"force", "N", "on the second body, mean over the step before the frame",
                       TYPE_FLOAT64, 3, 2},
    [CONTACT_GAP] = {"gap", "m", "between the surfaces at the start of that step", TYPE_FLOAT64, 1,
                     2},
    [CONTACT_MU] = {"mu", "1", "friction coefficient", TYPE_FLOAT32, 1, 2},
    [CONTACT_SLIDING] = {"sliding", "1", "1 where it slides, 0 where it sticks", TYPE_INT32, 1, 2},
    [CONTACT_V] = {"v", "1", "v of the place: share of a triangle's 3rd corner; else 0",
                   TYPE_FLOAT32, 2, 5},
};

// Two numbers, of the two sides.
static void pair(double x[ROW_WIDTH_MAX], double a, double b) {
    x[0] = a;
    x[1] = b;
}

static void get(const void* rows, int row, int column, double x[ROW_WIDTH_MAX]) {
    const TdlResultContact* c = (const TdlResultContact*)rows + row;
    switch ((ContactColumn)column) {
    case CONTACT_KIND:
        pair(x, c->kind[0], c->kind[1]);
        break;
    case CONTACT_INDEX:
        pair(x, c->index[0], c->index[1]);
        break;
    case CONTACT_ELEMENT:
        pair(x, c->element[0], c->element[1]);
        break;
    case CONTACT_U:
        pair(x, c->u[0], c->u[1]);
        break;
    case CONTACT_V:
        pair(x, c->v[0], c->v[1]);
        break;
    case CONTACT_POINT:
        tdl_store3(x, 0, c->point);
        break;
    case CONTACT_NORMAL:
        tdl_store3(x, 0, c->normal);
        break;
    case CONTACT_FORCE:
        tdl_store3(x, 0, c->force);
        break;
    case CONTACT_GAP:
        x[0] = c->gap;
        break;
    case CONTACT_MU:
        x[0] = c->mu;
        break;
    case CONTACT_SLIDING:
        x[0] = c->sliding;
        break;
    case CONTACT_COLUMNS:
        break;
    }
}

static void put(void* rows, int row, int column, const double x[ROW_WIDTH_MAX]) {
    TdlResultContact* c = (TdlResultContact*)rows + row;
    switch ((ContactColumn)column) {
    case CONTACT_KIND:
        c->kind[0] = (TdlResultKind)x[0];
        c->kind[1] = (TdlResultKind)x[1];
        break;
    case CONTACT_INDEX:
        c->index[0] = (int)x[0];
        c->index[1] = (int)x[1];
        break;
    case CONTACT_ELEMENT:
        c->element[0] = (int)x[0];
        c->element[1] = (int)x[1];
        break;
    case CONTACT_U:
        c->u[0] = x[0];
        c->u[1] = x[1];
        break;
    case CONTACT_V:
        c->v[0] = x[0];
        c->v[1] = x[1];
        break;
    case CONTACT_POINT:
        c->point = tdl_load3(x, 0);
        break;
    case CONTACT_NORMAL:
        c->normal = tdl_load3(x, 0);
        break;
    case CONTACT_FORCE:
        c->force = tdl_load3(x, 0);
        break;
    case CONTACT_GAP:
        c->gap = x[0];
        break;
    case CONTACT_MU:
        c->mu = x[0];
        break;
    case CONTACT_SLIDING:
        c->sliding = x[0] != 0.0;
        break;
    case CONTACT_COLUMNS:
        break;
    }
}

static bool is_sound(const void* rows, int row) {
    const TdlResultContact* contact = (const TdlResultContact*)rows + row;
    for (int i = 0; i < 2; ++i) {
        if (contact->kind[i] < TDL_RESULT_ROD || contact->kind[i] > TDL_RESULT_GRAINS ||
            contact->index[i] < 0) {
            return false;
        }
    }
    return true;
}

const RowTable RESULT_CONTACTS = {
    .group = "contacts",
    .columns = COLUMNS,
    .column_count = CONTACT_COLUMNS,
    .chunk_rows = CHUNK_ROWS,
    .get = get,
    .put = put,
    .is_sound = is_sound,
    .unsound = " names bodies that cannot be",
};
