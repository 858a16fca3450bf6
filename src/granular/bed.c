// A bed's memory and its state.
#include "granular/bed.h"

#include "base/hash.h"

#include <string.h>

// --- making it -----------------------------------------------------------------------------------

static bool alloc_state(Bed* bed) {
    const TdlAllocator* mem = &bed->host.mem;
    size_t n = (size_t)bed->made, places = (size_t)bed->place_count;
    bed->particle = tdl_alloc_array(mem, n, sizeof *bed->particle);
    bed->number = tdl_alloc_array(mem, n, sizeof *bed->number);
    bed->impulse = tdl_alloc_array(mem, places * (size_t)bed->components, sizeof *bed->impulse);
    if (bed->def.mu_fast > bed->def.mu) {
        bed->rate = tdl_alloc_array(mem, places, sizeof *bed->rate);
    }
    if (bed->def.fixed) {
        bed->flow = tdl_alloc_array(mem, 3 * (size_t)bed->grid.node_count, sizeof *bed->flow);
    }
    bed->reaction = tdl_alloc_array(mem, 3 * (size_t)bed->grid.node_count, sizeof *bed->reaction);
    return bed->particle != NULL && bed->number != NULL && bed->impulse != NULL &&
           bed->reaction != NULL && (bed->rate != NULL || bed->def.mu_fast <= bed->def.mu) &&
           (bed->flow != NULL || !bed->def.fixed);
}

static bool alloc_particles(Bed* bed) {
    const TdlAllocator* mem = &bed->host.mem;
    size_t n = (size_t)bed->made;
    bed->other = tdl_alloc_array(mem, n, sizeof *bed->other);
    bed->other_number = tdl_alloc_array(mem, n, sizeof *bed->other_number);
    bed->cell_of = tdl_alloc_array(mem, n, sizeof *bed->cell_of);
    bed->order = tdl_alloc_array(mem, n, sizeof *bed->order);
    bed->blocks = tdl_alloc_array(mem, n / BED_BLOCK + 1, sizeof *bed->blocks);
    return bed->other && bed->other_number && bed->cell_of && bed->order && bed->blocks;
}

static bool alloc_grid(Bed* bed) {
    const TdlAllocator* mem = &bed->host.mem;
    size_t nodes = (size_t)bed->grid.node_count, cells = (size_t)bed->grid.cell_count;
    size_t places = (size_t)bed->place_count;
    bed->cell_start = tdl_alloc_array(mem, cells + 1, sizeof *bed->cell_start);
    bed->cell_volume = tdl_alloc_array(mem, cells, sizeof *bed->cell_volume);
    bed->node_volume = tdl_alloc_array(mem, nodes, sizeof *bed->node_volume);
    bed->active_of = tdl_alloc_array(mem, nodes, sizeof *bed->active_of);
    bed->v_free = tdl_alloc_array(mem, 3 * nodes, sizeof *bed->v_free);
    bed->before = tdl_alloc_array(mem, 3 * nodes, sizeof *bed->before);
    bed->way = tdl_alloc_array(mem, 3 * nodes, sizeof *bed->way);
    bed->place_room = tdl_alloc_array(mem, places, sizeof *bed->place_room);
    bed->open = tdl_alloc_array(mem, places, sizeof *bed->open);
    bed->row_of = tdl_alloc_array(mem, places, sizeof *bed->row_of);
    bed->colour_start = tdl_alloc_array(mem, 28, sizeof *bed->colour_start); // of 27
    return bed->cell_start && bed->cell_volume && bed->node_volume && bed->active_of &&
           bed->v_free && bed->before && bed->way && bed->place_room && bed->open && bed->row_of &&
           bed->colour_start;
}

static void lay_out_places(Bed* bed) {
    bool cells = bed->def.stress == TDL_GRAINS_CELLS;
    bed->components = bed->grid.axes == 2 ? 3 : 6;
    bed->place_count = cells ? bed->grid.cell_count : bed->grid.node_count;
    bed->place_step = cells ? bed->grid.cell_step : bed->grid.node_step;
    bed->places = cells ? bed->grid.cells : bed->grid.nodes;
    bed->strain.spacing = bed->grid.spacing;
    int nodes[2][2] = {{9, 27}, {4, 8}}, colours[2][2] = {{9, 27}, {4, 8}};
    bed->strain.rows.dimension = bed->grid.axes;
    bed->strain.rows.near = nodes[cells][bed->grid.axes - 2];
    bed->strain.rows.colour_count = colours[cells][bed->grid.axes - 2];
}

static TdlStatus copy_fills(Bed* bed, const TdlGrainsDef* def) {
    size_t count = (size_t)def->fill_count;
    bed->fills = tdl_alloc_array(&bed->host.mem, count, sizeof *bed->fills);
    if (bed->fills == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(bed->fills, def->fills, count * sizeof *bed->fills);
    bed->def.fills = bed->fills;
    return TDL_STATUS_OK;
}

static bool fill(Bed* bed) {
    bed_fill(&bed->def, &bed->grid, bed->particle);
    bed->ledger.count = bed->made;
    for (int p = 0; p < bed->made; ++p) {
        bed->number[p] = p;
    }
    bed_empty_rooms(bed);
    bed->strain.rows.start = bed->colour_start;
    if (!bed->def.fixed) {
        return true;
    }
    bed_sort(bed);
    bed_gather(bed);
    memcpy(bed->flow, bed->v_free, 3 * (size_t)bed->grid.node_count * sizeof *bed->flow);
    return bed_list_nodes(bed);
}

TdlStatus bed_create(const TdlHost* host, const TdlGrainsDef* def, Bed** out) {
    Bed* bed = tdl_alloc_zero(&host->mem, sizeof *bed);
    if (bed == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bed->host = *host;
    bed->def = *def;
    bed->def.per_cell = bed_per_cell(def);
    bed->grid = grid_of(def);
    lay_out_places(bed);
    TdlStatus status = copy_fills(bed, def);
    if (status == TDL_STATUS_OK) {
        bed->made = bed_fill(&bed->def, &bed->grid, NULL);
        bool room = alloc_state(bed) && alloc_particles(bed) && alloc_grid(bed) && fill(bed);
        status = room ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    }
    if (status != TDL_STATUS_OK) {
        bed_destroy(bed);
        return status;
    }
    *out = bed;
    return TDL_STATUS_OK;
}

void bed_destroy(Bed* bed) {
    if (bed == NULL) {
        return;
    }
    TdlAllocator mem = bed->host.mem;
    void* all[] = {
        bed->fills,        bed->particle,    bed->number,       bed->impulse,    bed->rate,
        bed->flow,         bed->other,       bed->other_number, bed->cell_of,    bed->order,
        bed->cell_start,   bed->node_volume, bed->cell_volume,  bed->place_room, bed->open,
        bed->v_free,       bed->before,      bed->way,          bed->active_of,  bed->row_of,
        bed->blocks,       bed->node,        bed->place,        bed->reaction,   bed->reacted,
        bed->met,          bed->mass,        bed->coordinate,   bed->row_place,  bed->row_node,
        bed->colour_start, bed->g,           bed->mu,           bed->bias,       bed->guess,
        bed->shift,        bed->aim,         bed->push,         bed->ease,       bed};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        tdl_free(&mem, all[k]);
    }
}

// --- the state -----------------------------------------------------------------------------------

enum { STATE_PARTS = 7 };

typedef struct StatePart {
    void* at; // null: there is none
    size_t size;
} StatePart;

static void list_state(const Bed* bed, StatePart part[STATE_PARTS]) {
    size_t n = (size_t)bed->made, places = (size_t)bed->place_count;
    size_t nodes = (size_t)bed->grid.node_count;
    part[0] = (StatePart){(void*)(uintptr_t)&bed->ledger, sizeof bed->ledger};
    part[1] = (StatePart){bed->particle, n * sizeof *bed->particle};
    part[2] = (StatePart){bed->impulse, places * (size_t)bed->components * sizeof *bed->impulse};
    part[3] = (StatePart){bed->rate, bed->rate == NULL ? 0 : places * sizeof *bed->rate};
    part[4] = (StatePart){bed->flow, bed->flow == NULL ? 0 : 3 * nodes * sizeof *bed->flow};
    part[6] = (StatePart){bed->reaction, 3 * nodes * sizeof *bed->reaction};
    part[5] = (StatePart){bed->number, n * sizeof *bed->number};
}

size_t bed_state_size(const Bed* bed) {
    StatePart part[STATE_PARTS];
    size_t size = 0;
    list_state(bed, part);
    for (int k = 0; k < STATE_PARTS; ++k) {
        size += part[k].size;
    }
    return size;
}

void bed_save(const Bed* bed, void* bytes) {
    StatePart part[STATE_PARTS];
    char* to = bytes;
    list_state(bed, part);
    for (int k = 0; k < STATE_PARTS; to += part[k++].size) {
        if (part[k].size > 0) {
            memcpy(to, part[k].at, part[k].size);
        }
    }
}

void bed_load(Bed* bed, const void* bytes) {
    StatePart part[STATE_PARTS];
    const char* from = bytes;
    list_state(bed, part);
    for (int k = 0; k < STATE_PARTS; from += part[k++].size) {
        if (part[k].size > 0) {
            memcpy(part[k].at, from, part[k].size);
        }
    }
}

uint64_t bed_hash(const Bed* bed, uint64_t hash) {
    StatePart part[STATE_PARTS];
    list_state(bed, part);
    for (int k = 0; k < STATE_PARTS; ++k) {
        hash = hash_bytes(hash, part[k].at, part[k].size);
    }
    return hash;
}
