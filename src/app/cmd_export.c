// tendril export: a result in other programs' formats.
#include "app/command.h"
#include "app/export.h"
#include "app/json.h"
#include "app/output.h"

#include <string.h>

typedef struct Format {
    const char *name, *ending;
    const char* frames; // which, when nobody says
    int (*write)(FrameReader* reader, const char* path);
} Format;

static const Format FORMATS[] = {
    {"vtp", ".pvd", ":", export_vtp},
    {"usda", ".usda", ":", export_usda},
    {"obj", ".obj", "-1", export_obj},
    {"pc2", ".pc2", ":", export_pc2},
    {"hair", ".hair", "-1", export_hair},
    {"csv", ".csv", ":", export_csv},
    {"strands", ".strands.h5", "-1", export_strands},
};

// The name of the folder, with the format's ending, in the folder one is in.
static void default_path(char out[OUTPUT_PATH_SIZE], const char* operand, const char* ending) {
    char name[OUTPUT_PATH_SIZE];
    size_t length = strlen(operand);
    while (length > 1 && operand[length - 1] == '/') {
        --length;
    }
    size_t from = length;
    while (from > 0 && operand[from - 1] != '/') {
        --from;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length - from), operand + from);
    bool nameless = name[0] == '\0' || name[0] == '.';
    output_path(out, nameless ? "result" : name, ".h5", ending);
}

static int run_export(const Args* args) {
    const char* name = args_text(args, "format", NULL);
    if (name == NULL) {
        return usage_error(args, "say which with --format");
    }
    const Format* format = FORMATS;
    while (strcmp(format->name, name) != 0) {
        ++format; // it is one of them: the option's table says so
    }
    char path[OUTPUT_PATH_SIZE];
    default_path(path, args_operand(args, 0), format->ending);
    const char* output = args_text(args, "output", path);
    FrameReader reader;
    int code = frame_reader_open(args, format->frames, &reader);
    if (code == EXIT_DONE) {
        code = format->write(&reader, output);
    }
    if (code == EXIT_DONE && args_has(args, "json")) {
        printf("{\"format\": \"%s\", \"output\": ", name);
        json_text(output);
        printf(", \"frames\": %d, \"rods\": %d, \"points\": %d, \"bodies\": %d, \"surfaces\": %d, "
               "\"grains\": %s}\n",
               reader.frame_count, reader.info.rod_count, reader.info.point_count,
               reader.body_count, reader.surface_count, reader.info.has_grains ? "true" : "false");
    } else if (code == EXIT_DONE && !args_has(args, "quiet")) {
        fprintf(stderr, "Wrote %d frame%s of %d rod%s and %d other bod%s%s to %s\n",
                reader.frame_count, reader.frame_count == 1 ? "" : "s", reader.info.rod_count,
                reader.info.rod_count == 1 ? "" : "s", reader.body_count,
                reader.body_count == 1 ? "y" : "ies", reader.info.has_grains ? ", and grains" : "",
                output);
    }
    frame_reader_close(&reader);
    return code;
}

static const Option EXPORT_OPTIONS[] = {
    {"format", 'f', OPTION_CHOICE, "vtp|usda|obj|pc2|hair|csv|strands", 0, 0, "the format; needed",
     false},
    {"output", 'o', OPTION_OUTPUT, "FILE", 0, 0,
     "where to; default: the name of DIR with the format's ending, here", false},
    {"frames", 0, OPTION_TEXT, "SLICE", 0, 0,
     FRAMES_HELP "; default: all, of obj, hair and strands the last", false},
    {0},
};

const Command EXPORT_COMMAND = {
    .name = "export",
    .operands = "DIR",
    .summary = "Write a result for ParaView, Blender, Houdini and others",
    .text =
        "vtp: a .pvd for ParaView and, for each frame, the rods as lines with radius,\n"
        "curvature and rod number, the other bodies and surfaces as meshes, contacts with their\n"
        "forces, and grains as points with velocity, pressure, shear and fraction. usda: USD text\n"
        "with curves, meshes, contacts and grains as points, and time samples. obj:\n"
        "polylines and meshes of a frame. pc2: point caches of all frames, and the .obj each "
        "moves:\n"
        "rods, bodies, and each surface whose vertices move, which a scene can take up again.\n"
        "hair: Cem Yuksel's format. csv: a row a point, in NAME-cloths.csv a row a vertex of cloth "
        "with\n"
        "its strain, in NAME-joints.csv a row a joint, in NAME-grains.csv a row a particle, and in "
        "NAME-contacts.csv a row a contact. "
        "Cloths have their quads in obj, pc2 "
        "and\n"
        "usda, and their strain in vtp and usda. strands: the shapes of super-helices or\n"
        "super-clothoids to a rounding, from which a scene can go on (curves); at rest in them.\n"
        "Everything is in metres with z up.",
    .example = "tendril export out/wisp --format vtp -o wisp.pvd\n"
               "tendril export out/wisp --format usda --frames 0:-1:2\n"
               "tendril export out/wisp --format hair --frames -1 -o wisp.hair",
    .options = EXPORT_OPTIONS,
    .run = run_export,
};
