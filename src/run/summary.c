// summary.json. JSON has no word for an infinite number or for none: those become null.
#include "run/summary.h"

#include "base/log.h"
#include "formats/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// Text between quotes. Titles are UTF-8; a byte that is not is written as the replacement mark.
static void print_text(FILE* out, const char* text) {
    fputc('"', out);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0';) {
        int length = *c < 0x80 ? 1 : *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
        bool good = length > 0 && *c < 0xf5;
        for (int i = 1; good && i < length; ++i) {
            good = (c[i] & 0xc0) == 0x80;
        }
        if (!good) {
            fputs("\\ufffd", out);
            ++c;
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(out, "\\u%04x", *c++);
        } else {
            if (*c == '"' || *c == '\\') {
                fputc('\\', out);
            }
            fwrite(c, 1, (size_t)length, out);
            c += length;
        }
    }
    fputc('"', out);
}

static void print_real(FILE* out, const char* name, double value) {
    if (isfinite(value)) {
        fprintf(out, "  \"%s\": %.17g,\n", name, value);
    } else {
        fprintf(out, "  \"%s\": null,\n", name);
    }
}

static void print_summary(FILE* out, const Summary* summary) {
    const TdlRunInfo* info = &summary->info;
    fputs("{\n  \"title\": ", out);
    print_text(out, summary->title == NULL ? "" : summary->title);
    fprintf(out, ",\n  \"version\": \"%s\",\n", tdl_version());
    fprintf(out, "  \"finished\": %s,\n", info->finished ? "true" : "false");
    fprintf(out, "  \"status\": \"%s\",\n",
            info->failed ? "failed" : tdl_status_string(summary->status));
    if (info->failed) {
        fputs("  \"failure\": ", out);
        print_text(out, info->failure);
        fputs(",\n", out);
    }
    fprintf(out, "  \"sound\": %s,\n", tdl_run_is_sound(info) ? "true" : "false");
    fprintf(out, "  \"steps\": %ld,\n  \"step_total\": %ld,\n", info->steps, info->step_total);
    fprintf(out, "  \"frames\": %ld,\n", info->frames);
    print_real(out, "time", info->time);
    print_real(out, "kinetic_energy", info->energy.kinetic);
    print_real(out, "elastic_energy", info->energy.elastic);
    print_real(out, "gravity_energy", info->energy.gravity);
    print_real(out, "energy_rise", info->energy_rise);
    print_real(out, "nowhere", info->nowhere);
    fprintf(out, "  \"unsolved_steps\": %ld,\n  \"forced_steps\": %ld,\n", info->unsolved,
            info->forced);
    print_real(out, "solver_error", info->error);
    if (summary->has_grains) {
        print_real(out, "grains_mass", summary->grains.mass);
        print_real(out, "grains_lost_mass", summary->grains.lost_mass);
        fprintf(out, "  \"grains_lost\": %lld,\n", summary->grains.lost);
        print_real(out, "grains_volume_kept", summary->grains.volume_kept);
    }
    fprintf(out, "  \"substeps_max\": %d,\n", info->substeps_max);
    print_real(out, "wall_seconds", summary->seconds);
    fprintf(out, "  \"threads\": %d,\n  \"build\": ", summary->threads);
    print_text(out, summary->build);
    fprintf(out, ",\n  \"other_builds\": %ld,\n", summary->other_builds);
    fprintf(out, "  \"state_hash\": \"%016" PRIx64 "\"\n}\n", info->state_hash);
}

TdlStatus summary_write(const TdlHost* host, const char* path, const Summary* summary) {
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    if (out == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    print_summary(out, summary);
    bool good = ferror(out) == 0;
    good = fclose(out) == 0 && good;
    TdlStatus status =
        good ? file_replace(host, path, text, size)
             : tdl_fail(host, TDL_STATUS_NO_MEMORY, "%s: no memory for the summary", path);
    free(text);
    return status;
}
