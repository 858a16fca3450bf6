// The command render as a user meets it: SVG that parses, PNG of every frame, sheets, bad calls.
#include "command.h"
#include "test.h"

#include <png.h>

static const char SCENE[] =
    "title: Rods <&> \"bodies\"\n"
    "time: {step: 1e-3, end: 0.03}\n"
    "output: {frame: 0.01}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.2}]\n"
    "rods:\n"
    "  - {name: a, material: hair, length: 0.3, radius: 2e-3, elements: 8,\n"
    "     natural_curvature: [3, 10, 5], clamp: {position: [0, 0, 0.3]}}\n"
    "colliders:\n"
    "  - {name: floor, shape: plane}\n"
    "  - {name: ball, shape: sphere, radius: 0.05, position: [0.1, 0.2, 0.05]}\n";

static Scratch make_run(void) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "s.yaml"), SCENE, strlen(SCENE));
    CHECK_INT(COMMAND(&s, "run", "s.yaml", "-o", "run", "-q"), 0);
    return s;
}

// Size of a PNG and how many of its pixels are not white; false when it cannot be read.
static bool look(const Scratch* s, const char* name, unsigned size[2], int* drawn) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, scratch_path(s, name))) {
        return false;
    }
    image.format = PNG_FORMAT_RGB;
    unsigned char* pixels = malloc(PNG_IMAGE_SIZE(image));
    bool good = png_image_finish_read(&image, NULL, pixels, 0, NULL) != 0;
    size[0] = image.width;
    size[1] = image.height;
    *drawn = 0;
    for (size_t i = 0; good && i < (size_t)size[0] * size[1]; ++i) {
        *drawn += pixels[3 * i] < 250;
    }
    free(pixels);
    return good;
}

TEST(an_svg_parses) {
    Scratch s = make_run();
    CHECK_INT(COMMAND(&s, "render", "run", "--json"), 0);
    CHECK(
        command_wrote(&s, "stdout", "{\"picture\": \"picture.svg\", \"moments\": 4, \"rods\": 1}"));
    CHECK(command_wrote(&s, "picture.svg", "Rods &lt;&amp;&gt; &quot;bodies&quot;"));
    if (system("command -v xmllint >/dev/null 2>&1") == 0) {
        char line[1024];
        snprintf(line, sizeof line, "xmllint --noout '%s'", scratch_path(&s, "picture.svg"));
        CHECK_INT(system(line), 0);
    }
    scratch_remove(&s);
}

TEST(frames_make_a_film) {
    Scratch s = make_run();
    unsigned size[2];
    int drawn;
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "f%03d.png", "--width", "200", "--height", "150"),
              0);
    CHECK(command_wrote(&s, "stderr", "ffmpeg -framerate 100 -i 'f%03d.png'"));
    for (int k = 0; k < 4; ++k) {
        char name[32];
        snprintf(name, sizeof name, "f%03d.png", k);
        REQUIRE(look(&s, name, size, &drawn));
        CHECK(size[0] == 200 && size[1] == 150);
        CHECK(drawn > 2000); // the floor alone fills a good part
    }
    CHECK(access(scratch_path(&s, "f004.png"), F_OK) != 0);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "one.png", "--frames", "2", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"frames\": 1, \"rods\": 1, \"bodies\": 2"));
    REQUIRE(look(&s, "one.png", size, &drawn));
    CHECK(size[0] == 960 && size[1] == 720);
    CHECK_INT(COMMAND(&s, "render", "run", "--contact-sheet", "-m", "3", "--width", "100",
                      "--height", "80", "-q"),
              0);
    REQUIRE(look(&s, "sheet.png", size, &drawn));
    CHECK(size[0] == 2 * 108 + 8 && size[1] == 2 * 88 + 8);
    // the same picture twice
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "two.png", "--frames", "2", "-q"), 0);
    size_t a_size, b_size;
    char* a = scratch_read(scratch_path(&s, "one.png"), &a_size);
    char* b = scratch_read(scratch_path(&s, "two.png"), &b_size);
    CHECK(a_size == b_size && memcmp(a, b, a_size) == 0);
    free(a);
    free(b);
    scratch_remove(&s);
}

TEST(bad_calls_are_refused) {
    Scratch s = make_run();
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.gif"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a%s.png"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a%d%d.png"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a%99999999d.png"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.png", "--frames", ":"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a%d.png", "--contact-sheet"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.svg", "--contact-sheet"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.svg", "--frames", "1"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.png", "--frames", "9"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "a.png", "--width", "9"), 2);
    CHECK_INT(COMMAND(&s, "render", "run", "-o", "no/a.png"), 1);
    CHECK(command_wrote(&s, "stderr", "no/a.png"));
    CHECK_INT(COMMAND(&s, "render", "nothing", "-o", "a.png"), 3);
    scratch_write(scratch_path(&s, "text.h5"), "not ours", 8);
    CHECK_INT(COMMAND(&s, "render", "text.h5", "-o", "a.png"), 3);
    size_t size;
    char* data = scratch_read(scratch_path(&s, "run/result.h5"), &size);
    scratch_write(scratch_path(&s, "cut.h5"), data, size - size / 3);
    free(data);
    CHECK_INT(COMMAND(&s, "render", "cut.h5", "-o", "a.png"), 3);
    CHECK(access(scratch_path(&s, "a.png"), F_OK) != 0);
    scratch_remove(&s);
}
