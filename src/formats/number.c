// Strict numbers. The grammar is checked by hand, because strtod takes hexadecimals, "inf", "nan"
// and the decimal comma of a locale; then strtod of the C locale converts, correctly rounded.
#include "formats/number.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char* skip_digits(const char* s) {
    while (*s >= '0' && *s <= '9') {
        ++s;
    }
    return s;
}

// The end of the longest number at the start of `s`; `s` itself when there is none.
static const char* skip_number(const char* s) {
    const char* start = s;
    s += *s == '+' || *s == '-';
    const char* whole = s;
    s = skip_digits(s);
    long digits = s - whole;
    if (*s == '.') {
        const char* fraction = ++s;
        s = skip_digits(s);
        digits += s - fraction;
    }
    if (digits == 0) {
        return start;
    }
    if (*s == 'e' || *s == 'E') {
        const char* power = s + 1;
        power += *power == '+' || *power == '-';
        const char* end = skip_digits(power);
        s = end > power ? end : s;
    }
    return s;
}

static NumberFault check_whole(const char* text, const char* end) {
    return end == text ? NUMBER_NOT : *end != '\0' ? NUMBER_UNIT : NUMBER_FINE;
}

NumberFault parse_real(const char* text, double* out) {
    NumberFault fault = check_whole(text, skip_number(text));
    if (fault != NUMBER_FINE) {
        return fault;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    errno = 0;
    double value = c_locale == (locale_t)0 ? 0.0 : strtod_l(text, NULL, c_locale);
    int error = c_locale == (locale_t)0 ? EINVAL : errno;
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    if (error == EINVAL) {
        return NUMBER_NOT;
    }
    if (error == ERANGE) {
        return value > 1.0 || value < -1.0 ? NUMBER_LARGE : NUMBER_SMALL;
    }
    *out = value;
    return NUMBER_FINE;
}

NumberFault parse_int(const char* text, int* out) {
    const char* digits = text + (*text == '+' || *text == '-');
    const char* end = skip_digits(digits);
    if (end == digits) {
        return NUMBER_NOT;
    }
    if (*end != '\0') {
        // "2.5" and "1e3" are numbers, but not whole ones
        return *skip_number(text) == '\0' ? NUMBER_NOT : NUMBER_UNIT;
    }
    errno = 0;
    long value = strtol(text, NULL, 10);
    if (errno == ERANGE || value > INT_MAX || value < INT_MIN) {
        return NUMBER_LARGE;
    }
    *out = (int)value;
    return NUMBER_FINE;
}
