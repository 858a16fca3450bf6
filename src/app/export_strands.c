// The rods of a frame as a file of strands, from which a scene can go on.
#include "app/export.h"
#include "app/output.h"

int export_strands(FrameReader* reader, const char* path) {
    int code = EXIT_DONE;
    for (int k = 0; k < reader->frame_count && code == EXIT_DONE; ++k) {
        char file[OUTPUT_PATH_SIZE], suffix[64];
        snprintf(suffix, sizeof suffix, "-%04ld.h5", reader->frames[k]);
        output_path(file, path, ".h5", suffix);
        TdlStrands strands;
        code = exit_code(tdl_result_read_strands(reader->result, reader->frames[k], &strands));
        if (code == EXIT_DONE) {
            const char* to = reader->frame_count > 1 ? file : path;
            code = output_code(tdl_strands_write(reader->host, to, &strands));
            tdl_strands_free(reader->host, &strands);
        }
    }
    return code;
}
