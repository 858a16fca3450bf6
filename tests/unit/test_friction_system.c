// What solvers stand on: islands, the order within one, and products with rows.
#include "bench/friction_cases.h"
#include "friction/islands.h"
#include "friction/problem.h"
#include "friction/system.h"
#include "test.h"

TEST(islands_are_the_connected_groups) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem *p, *matrix;
    case_stack(&c, 3, 7, 4, 0.4);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_explicit(&host, p, &matrix) == TDL_STATUS_OK);
    Arena arena;
    arena_init(&arena, &host.mem);
    for (int form = 0; form < 2; ++form) {
        Islands islands;
        REQUIRE(islands_find(&arena, form == 0 ? p : matrix, true, &islands) == TDL_STATUS_OK);
        CHECK_INT(islands.count, 7);
        for (int k = 0; k < islands.count; ++k) {
            CHECK_INT(islands.start[k + 1] - islands.start[k], 16);
            for (int e = islands.start[k]; e < islands.start[k + 1]; ++e) {
                CHECK_INT(islands.contact[e] / 16, islands.contact[islands.start[k]] / 16);
            }
        }
        // no two contacts of a colour are coupled
        Phases colours;
        int contact[112];
        memcpy(contact, islands.contact, sizeof contact);
        REQUIRE(islands_colour(&arena, form == 0 ? p : matrix, contact, 112, &colours) ==
                TDL_STATUS_OK);
        for (int k = 0; k < colours.count; ++k) {
            int from = colours.start[colours.first_task[k]];
            int to = colours.start[colours.first_task[k + 1]];
            for (int a = from; a < to; ++a) {
                for (int b = a + 1; b < to; ++b) {
                    double w[9] = {0};
                    problem_add_coupling(p, contact[a], contact[b], w);
                    CHECK(w[0] == 0.0 && w[4] == 0.0);
                }
            }
        }
    }
    arena_destroy(&arena);
    tdl_friction_problem_destroy(p);
    tdl_friction_problem_destroy(matrix);
    case_free(&c);
}

TEST(wide_rows_agree_with_scalar_ones) {
    double blocks[9 * 50 + 4] = {0}, r[150], b[3] = {0.1, -0.2, 0.3};
    int column[50];
    for (int k = 0; k < 450; ++k) {
        blocks[k] = sin(1.0 + k);
    }
    for (int k = 0; k < 150; ++k) {
        r[k] = cos(2.0 + k);
    }
    for (int count = 0; count <= 50; ++count) {
        double a[3], c[3];
        for (int k = 0; k < count; ++k) {
            column[k] = 7 * k % 50;
        }
        row_velocity_scalar(3, blocks, column, count, r, b, a);
        row_velocity3(blocks, column, count, r, b, c);
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(c[k], a[k], 1.0e-13); // 150 roundings
        }
    }
}

TEST(rows_of_six_agree_with_scalar_ones) {
    double blocks[36 * 40], r[6 * 40], b[6] = {0.5, -1.0, 2.0, 0.1, -0.2, 0.3};
    int column[40];
    for (int k = 0; k < 36 * 40; ++k) {
        blocks[k] = sin(1.0 + k);
    }
    for (int k = 0; k < 6 * 40; ++k) {
        r[k] = cos(2.0 + k);
    }
    for (int count = 0; count <= 40; ++count) {
        double a[6], c[6];
        for (int k = 0; k < count; ++k) {
            column[k] = 7 * k % 40;
        }
        row_velocity_scalar(6, blocks, column, count, r, b, a);
        row_velocity6(blocks, column, count, r, b, c);
        for (int k = 0; k < 6; ++k) {
            CHECK_NEAR(c[k], a[k], 1.0e-13); // 240 roundings
        }
    }
}

TEST(wide_body_rows_agree_with_scalar_ones) {
    double rows[3 * 41], v[41], x[3] = {0.3, -1.2, 0.7};
    for (int m = 0; m <= 41; ++m) {
        double a[3] = {1.0, 2.0, 3.0}, b[3] = {1.0, 2.0, 3.0}, p[41], q[41];
        for (int k = 0; k < 3 * m; ++k) {
            rows[k] = sin(1.0 + k);
        }
        for (int k = 0; k < m; ++k) {
            v[k] = p[k] = q[k] = cos(3.0 * k);
        }
        rows3_times_scalar(m, m, rows, v, a);
        rows3_times(m, m, rows, v, b);
        rows3_add_scalar(m, m, rows, x, p);
        rows3_add(m, m, rows, x, q);
        for (int k = 0; k < 3; ++k) {
            CHECK_NEAR(b[k], a[k], 1.0e-14); // 41 roundings
        }
        for (int k = 0; k < m; ++k) {
            CHECK_NEAR(q[k], p[k], 1.0e-15);
        }
    }
}

// Every contact once, and no body in two tasks of a phase.
TEST(groups_share_no_body_within_a_phase) {
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < 3; ++kind) {
        FrictionCase c;
        TdlFrictionProblem* p;
        if (kind == 0) {
            case_wisp(&c, 1, 300, 8, 14, 0.3);
        } else if (kind == 1) {
            case_rocks(&c, 2, 200, 0.3);
        } else {
            case_stack(&c, 3, 2, 3, 0.4); // fewer bodies than groups
        }
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        Arena arena;
        arena_init(&arena, &host.mem);
        int* contact = calloc((size_t)p->n, sizeof(int));
        int* seen = calloc((size_t)p->n, sizeof(int));
        int* owner = calloc((size_t)p->body_count, sizeof(int));
        for (int i = 0; i < p->n; ++i) {
            contact[i] = i;
        }
        Phases phases;
        REQUIRE(islands_group(&arena, p, contact, p->n, &phases) == TDL_STATUS_OK);
        int most = 0;
        for (int k = 0; k < phases.count; ++k) {
            memset(owner, 0, (size_t)p->body_count * sizeof(int));
            for (int t = phases.first_task[k]; t < phases.first_task[k + 1]; ++t) {
                most = phases.start[t + 1] - phases.start[t] > most
                           ? phases.start[t + 1] - phases.start[t]
                           : most;
                for (int e = phases.start[t]; e < phases.start[t + 1]; ++e) {
                    ++seen[contact[e]];
                    for (int side = 0; side < 2; ++side) {
                        int body = p->body[2 * contact[e] + side];
                        CHECK(body < 0 || owner[body] == 0 || owner[body] == t + 1);
                        owner[body < 0 ? 0 : body] = body < 0 ? owner[0] : t + 1;
                    }
                }
            }
        }
        for (int i = 0; i < p->n; ++i) {
            CHECK_INT(seen[i], 1);
        }
        printf("  %d contacts of %d bodies in %d phases, the longest task %d\n", p->n,
               p->body_count, phases.count, most);
        CHECK(kind > 0 || most < p->n / 8);
        free(contact);
        free(seen);
        free(owner);
        arena_destroy(&arena);
        tdl_friction_problem_destroy(p);
        case_free(&c);
    }
}
