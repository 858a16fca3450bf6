#include "scene/schema.h"

#include "capture.h"
#include "formats/number.h"
#include "scene/scene.h"
#include "test.h"

#include <float.h>
#include <limits.h>
#include <locale.h>

// --- numbers
// --------------------------------------------------------------------------------------

TEST(reals_are_read_whole_and_exactly) {
    static const struct {
        const char* text;
        double value;
    } GOOD[] = {{"0", 0.0},
                {"-0.5", -0.5},
                {"+3", 3.0},
                {".5", 0.5},
                {"5.", 5.0},
                {"1e9", 1e9},
                {"1.5E-3", 1.5e-3},
                {"1e+2", 100.0},
                {"0.1", 0.1},
                {"1.7976931348623157e308", DBL_MAX},
                {"2.2250738585072014e-308", DBL_MIN}};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; ++i) {
        double value = -1.0;
        CHECK_INT(parse_real(GOOD[i].text, &value), NUMBER_FINE);
        CHECK(value == GOOD[i].value);
    }
}

TEST(what_is_no_real_is_refused) {
    static const struct {
        const char* text;
        NumberFault fault;
    } BAD[] = {
        {"", NUMBER_NOT},        {".", NUMBER_NOT},        {"-", NUMBER_NOT},
        {"e5", NUMBER_NOT},      {"nan", NUMBER_NOT},      {"inf", NUMBER_NOT},
        {"-inf", NUMBER_NOT},    {".inf", NUMBER_NOT},     {".nan", NUMBER_NOT},
        {" 1", NUMBER_NOT},      {"--1", NUMBER_NOT},      {"x", NUMBER_NOT},
        {"0x10", NUMBER_UNIT},   {"3.5 GPa", NUMBER_UNIT}, {"1,5", NUMBER_UNIT},
        {"1_000", NUMBER_UNIT},  {"1 ", NUMBER_UNIT},      {"1e", NUMBER_UNIT},
        {"1e+", NUMBER_UNIT},    {"1.2.3", NUMBER_UNIT},   {"1:30", NUMBER_UNIT},
        {"1e999", NUMBER_LARGE}, {"-1e999", NUMBER_LARGE}, {"1e-999", NUMBER_SMALL},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        double value;
        NumberFault fault = parse_real(BAD[i].text, &value);
        if (fault != BAD[i].fault) {
            FAIL("'%s' gives %d, expected %d", BAD[i].text, fault, BAD[i].fault);
        }
    }
}

TEST(ints_are_whole) {
    int value = 0;
    CHECK_INT(parse_int("2147483647", &value), NUMBER_FINE);
    CHECK_INT(value, INT_MAX);
    CHECK_INT(parse_int("-2147483648", &value), NUMBER_FINE);
    CHECK_INT(value, INT_MIN);
    CHECK_INT(parse_int("+7", &value), NUMBER_FINE);
    CHECK_INT(value, 7);
    CHECK_INT(parse_int("2147483648", &value), NUMBER_LARGE);
    CHECK_INT(parse_int("99999999999999999999999", &value), NUMBER_LARGE);
    CHECK_INT(parse_int("", &value), NUMBER_NOT);
    CHECK_INT(parse_int("-", &value), NUMBER_NOT);
    CHECK_INT(parse_int("2.0", &value), NUMBER_NOT);
    CHECK_INT(parse_int("1e3", &value), NUMBER_NOT);
    CHECK_INT(parse_int("0x10", &value), NUMBER_UNIT);
    CHECK_INT(parse_int("12 m", &value), NUMBER_UNIT);
}

// Sets a locale with a decimal comma: an installed one, or one made for the occasion.
static bool set_comma_locale(char* folder) {
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL) {
        return true;
    }
    char command[160];
    snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 %s/de_DE > /dev/null 2>&1",
             folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
           setlocale(LC_ALL, "de_DE") != NULL;
}

TEST(a_decimal_comma_in_the_locale_changes_nothing) {
    char folder[] = "/tmp/tendril-locale-XXXXXX", command[64];
    REQUIRE(mkdtemp(folder) != NULL);
    bool comma = set_comma_locale(folder);
    double value = 0.0;
    bool really = strtod("1,5", NULL) == 1.5;
    CHECK_INT(parse_real("1.5", &value), NUMBER_FINE);
    CHECK(value == 1.5);
    CHECK_INT(parse_real("1,5", &value), NUMBER_UNIT);
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
    if (!comma) {
        SKIP("no locale with a decimal comma, and no localedef to make one");
    }
    CHECK(really);
}

// --- words
// ----------------------------------------------------------------------------------------

TEST(choices_are_found_whole) {
    CHECK_INT(choice_index("plane|sphere", "plane"), 0);
    CHECK_INT(choice_index("plane|sphere", "sphere"), 1);
    CHECK_INT(choice_index("plane|sphere", "plan"), -1);
    CHECK_INT(choice_index("plane|sphere", "plane|sphere"), -1);
    CHECK_INT(choice_index("plane|sphere", ""), -1);
    size_t length;
    CHECK(choice_at("a|b", 2, &length) == NULL);
}

TEST(only_a_near_word_is_proposed) {
    Nearest nearest = nearest_to("raduis");
    nearest_try(&nearest, "length", 6);
    nearest_try(&nearest, "radius", 6);
    CHECK_TEXT(nearest_hint(&nearest).text, "; did you mean 'radius'?");
    nearest = nearest_to("foo");
    nearest_try(&nearest, "radius", 6);
    CHECK_TEXT(nearest_hint(&nearest).text, "");
}

// --- a table of every kind
// ------------------------------------------------------------------------

typedef struct InnerSpec {
    const Node* node;
    int n;
} InnerSpec;

typedef struct OuterSpec {
    const Node* node;
    double real, pair[2];
    int whole, choice, count[3], size[2];
    IntList numbers, colours;
    bool truth;
    const char *text, *name;
    TdlVec3 vector, direction;
    VecList vectors;
    InnerSpec inner;
    GroupList list;
} OuterSpec;

static const char* colours(void) {
    return "red|green|blue";
}

#define AT(type, member) .offset = offsetof(type, member)

static const Field INNER_FIELDS[] = {
    {.key = "n", .kind = FIELD_INT, AT(InnerSpec, n), .required = true, .help = "A count."},
    {0},
};
static const Group INNER = {
    .name = "inner", .help = "Inside.", .size = sizeof(InnerSpec), .fields = INNER_FIELDS};

static const Field OUTER_FIELDS[] = {
    {.key = "real",
     .kind = FIELD_REAL,
     AT(OuterSpec, real),
     .unit = "m",
     .range = {0.0, 1.0, true, false},
     .fallback = "0.25",
     .help = "."},
    {.key = "pair", .kind = FIELD_PAIR, AT(OuterSpec, pair), .fallback = "[1, 2]", .help = "."},
    {.key = "whole",
     .kind = FIELD_INT,
     AT(OuterSpec, whole),
     .range = {-5, 5, false, true},
     .help = "."},
    {.key = "choice",
     .kind = FIELD_CHOICE,
     AT(OuterSpec, choice),
     .choices = colours,
     .fallback = "green",
     .help = "."},
    {.key = "count",
     .kind = FIELD_COUNT3,
     AT(OuterSpec, count),
     .fallback = "[1, 2, 3]",
     .help = "."},
    {.key = "size", .kind = FIELD_COUNT2, AT(OuterSpec, size), .fallback = "[4, 5]", .help = "."},
    {.key = "numbers",
     .kind = FIELD_INTS,
     AT(OuterSpec, numbers),
     .range = {0, 9, false, false},
     .help = "."},
    {.key = "colours",
     .kind = FIELD_CHOICES,
     AT(OuterSpec, colours),
     .choices = colours,
     .help = "."},
    {.key = "truth", .kind = FIELD_BOOL, AT(OuterSpec, truth), .fallback = "true", .help = "."},
    {.key = "text", .kind = FIELD_TEXT, AT(OuterSpec, text), .help = "."},
    {.key = "name", .kind = FIELD_NAME, AT(OuterSpec, name), .help = "."},
    {.key = "vector", .kind = FIELD_VEC3, AT(OuterSpec, vector), .help = "."},
    {.key = "direction", .kind = FIELD_DIRECTION, AT(OuterSpec, direction), .help = "."},
    {.key = "vectors", .kind = FIELD_VEC3S, AT(OuterSpec, vectors), .help = "."},
    {.key = "inner", .kind = FIELD_GROUP, AT(OuterSpec, inner), .group = &INNER, .help = "."},
    {.key = "list", .kind = FIELD_GROUPS, AT(OuterSpec, list), .group = &INNER, .help = "."},
    {0},
};
static const Group OUTER = {
    .name = "outer", .help = "Outside.", .size = sizeof(OuterSpec), .fields = OUTER_FIELDS};

typedef struct Reading {
    Capture capture;
    Arena arena;
    TdlStatus status;
    OuterSpec spec;
} Reading;

static void read_text(Reading* r, const char* text) {
    TdlHost host = capture_host(&r->capture);
    arena_init(&r->arena, &host.mem);
    NodePool pool = {.arena = &r->arena};
    const Source* source = source_from_text(&r->arena, "t", text, strlen(text));
    Node* root = NULL;
    r->status = yaml_parse(&host, &pool, source, 0, &root);
    SchemaReader reader = {.host = &host, .pool = &pool};
    if (r->status == TDL_STATUS_OK) {
        r->status = schema_read(&reader, &OUTER, root, &r->spec);
    }
}

TEST(defaults_come_from_the_table) {
    Reading r;
    read_text(&r, "{}");
    CHECK_INT(r.status, TDL_STATUS_OK);
    CHECK(r.spec.real == 0.25 && r.spec.pair[0] == 1.0 && r.spec.pair[1] == 2.0);
    CHECK(r.spec.choice == 1 && r.spec.truth && r.spec.count[2] == 3 && r.spec.whole == 0);
    CHECK(r.spec.text == NULL && r.spec.vectors.count == 0 && r.spec.inner.node == NULL);
    CHECK(r.spec.node != NULL && r.spec.list.count == 0);
    CHECK(r.spec.size[0] == 4 && r.spec.size[1] == 5 && r.spec.numbers.count == 0);
    arena_destroy(&r.arena);
}

TEST(every_kind_is_read) {
    Reading r;
    read_text(&r, "real: 1\npair: 3\nwhole: -5\nchoice: blue\ncount: [4, 5, 6]\ntruth: false\n"
                  "text: 'a b'\nname: a-1_B\nvector: [1, 2, 3]\ndirection: [0, 0, 1e-300]\n"
                  "vectors: [[1, 2, 3], [4, 5, 6]]\ninner: {n: 7}\nlist: [{n: 8}, {n: 9}]\n"
                  "size: [6, 7]\nnumbers: [3, 1, 3]\ncolours: [blue, red]\n");
    REQUIRE(r.status == TDL_STATUS_OK);
    CHECK(r.spec.size[0] == 6 && r.spec.size[1] == 7);
    REQUIRE(r.spec.numbers.count == 3 && r.spec.colours.count == 2);
    CHECK(r.spec.numbers.items[0] == 3 && r.spec.numbers.items[1] == 1);
    CHECK(r.spec.colours.items[0] == 2 && r.spec.colours.items[1] == 0);
    CHECK(r.spec.real == 1.0 && r.spec.pair[0] == 3.0 && r.spec.pair[1] == 3.0);
    CHECK(r.spec.whole == -5 && r.spec.choice == 2 && !r.spec.truth && r.spec.count[1] == 5);
    CHECK_TEXT(r.spec.text, "a b");
    CHECK_TEXT(r.spec.name, "a-1_B");
    CHECK_NEAR3(r.spec.vector, ((TdlVec3){1.0, 2.0, 3.0}), 0.0);
    CHECK(r.spec.direction.z == 1e-300);
    CHECK(r.spec.vectors.each && r.spec.vectors.count == 2 && r.spec.vectors.items[1].y == 5.0);
    CHECK_INT(r.spec.inner.n, 7);
    REQUIRE(r.spec.list.count == 2);
    CHECK_INT(((const InnerSpec*)r.spec.list.items)[1].n, 9);
    arena_destroy(&r.arena);
    read_text(&r, "vectors: [1, 2, 3]\n");
    CHECK(r.status == TDL_STATUS_OK && !r.spec.vectors.each && r.spec.vectors.count == 1);
    arena_destroy(&r.arena);
}

TEST(each_mistake_has_its_message) {
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"[1]", "t:1:1: the outer must be a group of keys, not a list of 1"},
        {"rael: 1", "t:1:1: unknown key 'rael' in the outer; did you mean 'real'?"},
        {"inner: {n: 1, q: 2}", "t:1:15: unknown key 'q' in the inner; did you mean 'n'?"},
        {"xyzzy: 2", "t:1:1: unknown key 'xyzzy' in the outer; its keys are real, pair, whole, "
                     "choice, count, size, numbers, colours, truth, text, name, vector, direction, "
                     "vectors, inner, list"},
        {"real: x", "t:1:7: real must be a number, not the text 'x'"},
        {"real:", "t:1:1: real must be a number, not nothing"},
        {"real: []", "t:1:7: real must be a number, not a list of 0"},
        {"real: {a: 1}", "t:1:7: real must be a number, not a group of keys"},
        {"real: '1'", "t:1:7: real must be a number, not the quoted text '1'"},
        {"real: nan", "t:1:7: real must be a number, not the text 'nan'"},
        {"real: .inf", "t:1:7: real must be a number, not the text '.inf'"},
        {"real: 1e999", "t:1:7: '1e999' is too large a number"},
        {"real: 1e-999", "t:1:7: '1e-999' is too small a number to tell from 0"},
        {"real: 5 cm", "t:1:7: '5 cm' is not a number: numbers are plain, in SI units, here m"},
        {"pair: 0x1p3", "t:1:7: '0x1p3' is not a number: numbers are plain, in SI units"},
        {"real: 0", "t:1:7: real must be in (0, 1] m, not 0"},
        {"real: 1.0001", "t:1:7: real must be in (0, 1] m, not 1.0001"},
        {"whole: 5", "t:1:8: whole must be in [-5, 5), not 5"},
        {"whole: 1.5", "t:1:8: whole must be a whole number, not the text '1.5'"},
        {"whole: 3000000000", "t:1:8: '3000000000' is too large a number"},
        {"truth: yes", "t:1:8: truth must be true or false, not the text 'yes'"},
        {"truth: 'true'", "t:1:8: truth must be true or false, not the quoted text 'true'"},
        {"choice: bleu",
         "t:1:9: choice must be one of red|green|blue, not 'bleu'; did you mean 'blue'?"},
        {"choice: violet", "t:1:9: choice must be one of red|green|blue, not 'violet'"},
        {"choice: [red]", "t:1:9: choice must be one of red|green|blue, not a list of 1"},
        {"choice: ''", "t:1:9: choice must be one of red|green|blue, not the quoted text ''"},
        {"count: [1, 2]", "t:1:8: count must be a list of 3 whole numbers, not a list of 2"},
        {"count: [1, 2, 3.5]", "t:1:15: count takes a whole number here, not the text '3.5'"},
        {"size: [1]", "t:1:7: size must be a list of 2 whole numbers, not a list of 1"},
        {"numbers: 1", "t:1:10: numbers must be a list of whole numbers, not the text '1'"},
        {"numbers: []", "t:1:10: numbers is empty"},
        {"numbers: [1, 10]", "t:1:14: numbers must be in [0, 9], not 10"},
        {"numbers: [1, [2]]", "t:1:14: numbers takes a whole number here, not a list of 1"},
        {"colours: red", "t:1:10: colours must be a list of red|green|blue, not the text 'red'"},
        {"colours: [red, bleu]", "t:1:16: colours must be one of red|green|blue, not 'bleu'; did "
                                 "you mean 'blue'?"},
        {"pair: [1, 2, 3]", "t:1:7: pair must be a number or a list of 2, not a list of 3"},
        {"text: [a]", "t:1:7: text must be a text, not a list of 1"},
        {"text:", "t:1:1: text must be a text, not nothing"},
        {"name: 1a", "t:1:7: '1a' is not a name: a letter, then letters, digits, '-' and '_', at "
                     "most 63"},
        {"name: ''", "t:1:7: '' is not a name: a letter, then letters, digits, '-' and '_', at "
                     "most 63"},
        {"name: a.b", "t:1:7: 'a.b' is not a name: a letter, then letters, digits, '-' and '_', "
                      "at most 63"},
        {"vector: [1, 2]", "t:1:9: vector must be a list of 3 numbers, not a list of 2"},
        {"vector: [1, 2, x]", "t:1:16: vector takes a number here, not the text 'x'"},
        {"vector: 1", "t:1:9: vector must be a list of 3 numbers, not the text '1'"},
        {"direction: [0, -0, 0]", "t:1:12: direction must not be zero"},
        {"vectors: [[1, 2, 3], [1, 2]]",
         "t:1:22: vectors takes a list of 3 numbers here, not a list of 2"},
        {"vectors: [[1, 2, 3], 4]",
         "t:1:22: vectors takes a list of 3 numbers here, not the text '4'"},
        {"vectors: []", "t:1:10: vectors must be a list of 3 numbers, or a list of such lists, "
                        "not a list of 0"},
        {"inner: 3", "t:1:8: the inner must be a group of keys, not the text '3'"},
        {"inner: {}", "t:1:8: the inner needs the key 'n'"},
        {"list: {n: 1}",
         "t:1:7: list must be a list of groups, each behind a '-', not a group of keys"},
        {"list: []", "t:1:7: list is empty"},
        {"list:\n  - {n: 1}\n  - {}", "t:3:5: the inner needs the key 'n'"},
        {"list:\n  - {n: 1}\n  - 4", "t:3:5: the inner must be a group of keys, not the text '4'"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Reading r;
        read_text(&r, BAD[i].text);
        CHECK_INT(r.status, TDL_STATUS_BAD_INPUT);
        CHECK_INT(r.capture.errors, 1);
        CHECK_TEXT(r.capture.first, BAD[i].message);
        arena_destroy(&r.arena);
    }
}

TEST(long_texts_are_refused) {
    char text[400] = "text: ";
    memset(text + 6, 'x', 255);
    Reading r;
    read_text(&r, text);
    CHECK_INT(r.status, TDL_STATUS_OK);
    arena_destroy(&r.arena);
    text[6 + 255] = 'x';
    read_text(&r, text);
    CHECK_TEXT(r.capture.first, "t:1:7: text is longer than 255 bytes");
    arena_destroy(&r.arena);
}

// --- the tables of the scene language
// -------------------------------------------------------------

static int check_group(SchemaReader* reader, const Group* group) {
    int fields = 0;
    char* spec = tdl_alloc_zero(&reader->host->mem, group->size);
    CHECK_INT(schema_defaults(reader, group, spec), TDL_STATUS_OK);
    tdl_free(&reader->host->mem, spec);
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        ++fields;
        CHECK(f->help != NULL && f->help[0] != '\0' && f->help[strlen(f->help) - 1] == '.');
        CHECK(f->offset < group->size);
        CHECK(f->offset >= sizeof(Node*) || f->kind == FIELD_INCLUDE);
        CHECK((f->group != NULL) == (f->kind == FIELD_GROUP || f->kind == FIELD_GROUPS));
        CHECK((f->choices != NULL) == (f->kind == FIELD_CHOICE || f->kind == FIELD_CHOICES));
        // a reader learns what happens when the key is left out
        CHECK(f->required || f->fallback != NULL || f->fallback_note != NULL);
        CHECK(f->range.min <= f->range.max);
        fields += f->group == NULL ? 0 : check_group(reader, f->group);
    }
    return fields;
}

TEST(the_scene_tables_are_whole) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    Arena arena;
    arena_init(&arena, &host.mem);
    NodePool pool = {.arena = &arena};
    SchemaReader reader = {.host = &host, .pool = &pool};
    CHECK(check_group(&reader, &SCENE_GROUP) > 40);
    CHECK_INT(capture.errors, 0);
    arena_destroy(&arena);
}
