"""Which tables, figures and equations of the documents are reproduced: docs/documents.md.

    python studies/documents.py > docs/documents.md

Every row names the test, study or command that shows it; a name that does not exist is refused, so
that the page cannot promise what is not there.
"""
# ruff: noqa: E501  a row of the page is a line here

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPRODUCED, PART, NOT = "reproduced", "in part", "not"
RANK, CURVES = "tests/robot/test_rank.py", "tests/identification/test_friction_curves.py"
LOOP = "tests/simulation/test_closed_loop.py"
CLAMPING = "tests/identification/test_clamping.py"
MODES = "tests/analysis/test_flexible_links.py"

# item, outcome, where it is shown as FILE::NAME, and what differs
DOCUMENTS = {
    "000, chapter 3 and 4, by this version's tests": (
        ("eq. 3.48, table 3.1", REPRODUCED, "tests/drives/test_friction.py::test_equation_3_48_with_table_3_1", ""),
        ("table 3.1 from curves", REPRODUCED, f"{CURVES}::test_table_3_1_comes_back_within_2_percent_and_intervals_hold_it", ""),
        ("3.3, 3.5.2, 3.7, 3.8, 4.4, 4.5 as runs", REPRODUCED, "studies/rx90b_experiments.py::all_experiments", "`armtwin experiments`; temperatures are assumed"),
        ("rank 55 of 82", REPRODUCED, f"{RANK}::test_rx90b_has_the_ranks_of_document_000", ""),
        ("eq. 4.54-4.60, truncated estimate", REPRODUCED, "tests/identification/test_decomposition.py::test_the_truncated_estimate_is_that_of_the_thesis", ""),
        ("10 % rule, 22 directions", REPRODUCED, "studies/truncated.py::identify", "20 to 24 directions in 30 runs of one period with 200 samples, median 23; longer logs keep more; unseen torque error 0.107 % of T_max"),
        ("figures 4.6, 4.8, 4.9, 4.12, 4.15", PART, "tests/identification/test_decomposition.py::test_a_truncated_estimate_of_no_real_robot_predicts_torques", "same figures in the report; factory values of the document are not printed"),
    ),
    "001": (
        ("figures 3.1, 3.2, one-dimensional transmission", REPRODUCED, "tests/simulation/test_bench.py::test_two_masses_on_a_damped_spring_move_as_their_equations_say", "`armtwin simulate kr300_clamping`"),
        ("figures 3.3 to 3.10, flexible robot", PART, "tests/analysis/test_flexible_links.py::test_links_and_joints_that_give_way_sag_more_than_either", "springs of joints and flexures of links; the document prints no numbers of its structure"),
        ("figures 4.1 to 4.8, algorithms I and II", REPRODUCED, f"{CLAMPING}::test_table_6_1_is_found_again_on_clean_data_by_every_method", "steps of both in `armtwin clamp`"),
        ("figures 5.1 to 5.4, photographs", NOT, "src/armtwin/jobs/experiments/kr300_clamping.toml", "no computation"),
        ("figures 6.1 to 6.6, experimental data", NOT, "src/armtwin/jobs/experiments/kr300_clamping.toml", "the data are not published"),
        ("figures 6.7 to 6.15, preprocessed data", PART, f"{CLAMPING}::test_half_cycles_are_all_found_and_the_partial_ones_left_out", "on simulated data"),
        ("table 6.1", REPRODUCED, f"{CLAMPING}::test_table_6_1_is_found_again_on_clean_data_by_every_method", "from data simulated with its numbers"),
        ("figures 6.16 to 6.22, simulated curves", PART, f"{CLAMPING}::test_the_identified_transmission_recreates_its_curve", "over simulated data, of joint 1"),
    ),
    "002": (
        ("eq. 17, 18 LuGre", REPRODUCED, "src/armtwin/robot/schema/drive_groups.py::Presliding", ""),
        ("eq. 19 Stribeck, plus and minus", REPRODUCED, f"{LOOP}::test_the_robot_of_document_002_rubs_by_its_law_in_each_direction", "job `rx90b_cs7b`; values are not printed: fitted to table 3.1 of 000 within 8 %, directions assumed 5 % apart"),
        ("section 5, CS7B scheme", REPRODUCED, f"{LOOP}::test_the_cs7b_of_document_002_lags_by_its_velocity_feedback_unless_that_is_compensated", "job `rx90b_cs7b`; gains are not printed: a rule, with the velocity feedback compensated as viscous friction, without which every drive lags"),
    ),
    "003, section 7.3": (
        ("13.6, 14.8, 83.2 Hz", PART, f"{MODES}::test_modes_of_the_epaas_have_oil_and_flexures_together", "fitted by three flexures"),
        ("35.9, 40.2 Hz", REPRODUCED, f"{MODES}::test_modes_of_the_epaas_have_oil_and_flexures_together", "predicted: 38.1 and 43.9 Hz"),
        ("25.2 Hz", NOT, f"{MODES}::test_modes_of_the_epaas_have_oil_and_flexures_together", "45.9 Hz, damped by 0.48; the document gives no reason either"),
        ("59.2 Hz", NOT, f"{MODES}::test_modes_of_the_epaas_have_oil_and_flexures_together", "flexures of link 2 and of link 3, whole body beyond, were tried and gave no mode there"),
        ("third question, calibration", REPRODUCED, "studies/calibration.py::draw", "three of AP, BP, Psi0, L_off of a cylinder at a time: over its stroke the fourth is ±0.11 m at 0.1 mm noise"),
    ),
    "004": (
        ("figure 1, photograph", NOT, "src/armtwin/robot/library/lwa4p.toml::lwa4p", "no computation"),
        ("figure 2, table 1", REPRODUCED, "tests/robot/test_denavit_hartenberg.py::test_", "an offset of 5.3 mm beside the public URDF"),
        ("figure 3, warm-up", REPRODUCED, "tests/identification/test_warm_up.py::test_the_powerballs_friction_falls_by_about_ten_percent", "procedure: `armtwin warmup`; mean of the absolute torque"),
        ("table 2, figures 4-6", REPRODUCED, f"{CURVES}::test_powerball_table_2_refitted_at_its_own_speeds", "measured points are not printed: refitted at the document's speeds"),
        ("29 base parameters", PART, f"{RANK}::test_powerball_with_the_zeros_of_document_004_has_rank_23", "23 here: of the paper's 29 columns 22 are independent, as masses and first moments were not regrouped"),
        ("66 columns", REPRODUCED, f"{RANK}::test_powerball_has_66_columns_of_rank_40", "rank 40 without the zeros of eq. 12"),
        ("eq. 17, figure 7", PART, "src/armtwin/identification/excitation/bounds.py::ExcitationPlan", "criterion `weighted`; the document's coefficients are not printed"),
        ("table 3", NOT, "tests/identification/test_plausibility.py::test_powerball_table_3_is_refused_by_name_of_the_link", "not physical: refused by name of the link"),
        ("figure 8, verification run", NOT, "src/armtwin/robot/library/lwa4p.toml::lwa4p", "its log is not published, and table 3 cannot predict one"),
        ("horizontal mounting", PART, "src/armtwin/robot/schema/mounting.py::gravity_of", "`--mounting wall`; the rank on a wall is not given in the document"),
    ),
}  # fmt: skip


def check(place):
    """Refuse a place that is not there."""
    path, _, name = place.partition("::")
    if name not in (ROOT / path).read_text(encoding="utf-8"):
        raise SystemExit(f"{place}: there is no such thing")
    return f"`{path}`" if name == "test_" or path.endswith(".toml") else f"`{path}::{name}`"


def chapter_5():
    """How many statements of chapter 5 hold, in part, not."""
    rows = (ROOT / "docs" / "chapter_5.md").read_text(encoding="utf-8").splitlines()
    verdicts = [row.split("|")[4].strip() for row in rows if row.startswith("| 5")]
    return [verdicts.count(word) for word in ("holds", "holds in part", "does not hold")]


def main():
    """Print the page."""
    print("# The documents, item by item\n")
    print("Made by studies/documents.py. Statements of chapter 5 stand in")
    print("[chapter_5.md](chapter_5.md) and are counted here; more of document 003 is in")
    print(
        "[epaas.md](epaas.md), of clamping in [transmissions.md](transmissions.md). Figures of 000"
    )
    print("that are not listed were not gone through one by one. Errata:")
    print("[references.md](references.md).")
    picture = "pictures/tutorial_elastic.png"
    print(f"\n![A clamping curve by the algorithms of document 001]({picture})")
    counts = [("000, chapter 5, its statements", *chapter_5())]
    for document, rows in DOCUMENTS.items():
        print(f"\n## Document {document}\n\n| item | | shown by | why not, or what differs |")
        print("|---|---|---|---|")
        for item, outcome, place, why in rows:
            print(f"| {item} | {outcome} | {check(place)} | {why} |")
        of = [sum(row[1] == outcome for row in rows) for outcome in (REPRODUCED, PART, NOT)]
        counts.append((document, *of))
    print("\n## Count\n\n| document | reproduced | in part | not |\n|---|---|---|---|")
    for row in counts:
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    sys.exit(main())
