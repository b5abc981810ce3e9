"""Command lines whose results are compared: the name of a case and what armtwin is called with.

A line ends in {folder} where the command writes a folder of results, in {robot} where it writes a
robot file, in {urdf} where it writes a URDF. Paths are those of the folder of a run: data/ holds
the measured data, inputs/ the files of same_results_inputs.py, and NAME/ what another case wrote.
"""

from armtwin.jobs import experiment, files as job_files

JOBS = job_files.list_shipped()
EXPERIMENTS = experiment.list_shipped()
ANALYSES = ("torques", "coupling", "inertia", "modes", "sag", "compliance", "loads")
POSTURES = {
    "rx90b": "0.1, 0.6, 1.3, 0.2, 1.0, 0.1",
    "kr300": "0, 0, 0.1, 0.2, 0.3, 0",
    "tx40": "0, 0.3, 1.2, 0, 0.5, 0.1",
    "lwa4p": "0, 0.3, 0.8, 0.1, 0.5, 0",
    "epaas": "0, 90, 271, 0, 0 deg",
    "epaas_bench": "0",
    "palletiser": "0.1, 0.9, -0.2, 0",
}

KR300 = "data/kuka_kr300"
TX40 = "data/staubli_tx40"
UR10E = "data/ur10e"
UR5 = "data/ur5_course"
DUAL = "data/dualarm_v2"
XMATE = "data/rokae_xmate7"
GEN3 = "data/kinova_gen3"

CASES: dict[str, str] = {}

# jobs
CASES |= {f"nominal_{job}": f"predict {job} --nominal {{folder}}" for job in JOBS}
CASES |= {
    "predict_loads": "predict rx90b_line --nominal --loads {folder}",
    "predict_perturbation": "predict rx90b_line --nominal --method perturbation {folder}",
    "predict_elastic": "predict inputs/elastic.toml --nominal {folder}",
    "predict_speeds": 'predict rx90b_line --nominal --speed "100, 300 mm/s" {folder}',
    "predict_jobs": "predict rx90b_line rx90b_corner_fixed --nominal {folder}",
    "compare_job": "compare rx90b_line nominal_rx90b_line/log.csv {folder}",
    "correct": 'correct rx90b_line --rounds 1 --spacing "25 mm" {folder}',
    "sensitivity_job": "sensitivity rx90b_line friction.*.viscous servo.bandwidth {folder}",
    "sweep": "sweep inputs/sweep.toml --csv {folder}",
}

# experiments
CASES |= {f"simulate_{name}": f"simulate {name} {{folder}}" for name in EXPERIMENTS}
CASES |= {
    "simulate_weight_2_7": "simulate inputs/weight_2_7.toml {folder}",
    "simulate_weight_9": "simulate inputs/weight_9.toml {folder}",
    "sensitivity_experiment": "sensitivity epaas_extend_heavy servo.proportional.gain {folder}",
    "clamp": "clamp simulate_kr300_clamping/log.csv --gear-ratio 250 {folder}",
    "frequency": "frequency simulate_epaas_noise/log.csv {folder}",
    "actuator_resonances": "actuator resonances inputs/resonances.csv {folder}",
    "actuator_noise": "actuator noise epaas_bench simulate_weight_2_7/log.csv "
    'simulate_weight_9/log.csv --weights "2.7, 9 kg" {robot}',
    "actuator_valve": "actuator valve epaas_bench simulate_epaas_noise/log.csv {robot}",
    "actuator_flow": "actuator flow epaas_bench simulate_epaas_triangles/log.csv {robot}",
}

# analyses
CASES |= {
    f"analyse_{robot}_{what}": f'analyse {robot} {what} --at "{posture}" {{folder}}'
    for robot, posture in POSTURES.items()
    for what in ANALYSES
}
CASES |= {
    f"analyse_job_{what}": f"analyse rx90b {what} --along rx90b_line {{folder}}"
    for what in ANALYSES
}
CASES |= {
    "analyse_frame_sag": "analyse kr300 sag --along kr300_frame {folder}",
    "analyse_links_modes": f'analyse kr300 modes --links --at "{POSTURES["kr300"]}" {{folder}}',
}

# identification from simulated logs
LOGS = "inputs/rx90b_a.csv inputs/rx90b_b.csv --validate inputs/rx90b_c.csv"
PAIR = "--without inputs/rx90b_a.csv --with inputs/rx90b_head.csv"
CASES |= {
    "excite": "excite rx90b --starts 2 --harmonics 5 --cell inputs/cell.toml {folder}",
    "identify": f'identify rx90b {LOGS} --cutoff "10 Hz" {{robot}}',
    "identify_ridge": f'identify rx90b {LOGS} --cutoff "10 Hz" --estimator ridge {{robot}}',
    "identify_friction": f'identify rx90b {LOGS} --cutoff "10 Hz" --friction-only {{robot}}',
    "payload": f"payload rx90b {PAIR} {{robot}}",
    "payload_held": "payload rx90b --with inputs/rx90b_head.csv --held {robot}",
    "friction_curves": "friction curves rx90b inputs/curves.csv {robot}",
    "friction_breakaway": "friction presliding rx90b inputs/reversals.csv {folder}",
    "friction_moving": 'friction shapes rx90b inputs/rx90b_a.csv --cutoff "10 Hz" {robot}',
    "friction_load": "friction load rx90b inputs/rx90b_a.csv inputs/rx90b_head.csv "
    '--elements "wrist_a, wrist_c" --tools "none, laser_head" {robot}',
    "servo": "servo rx90b inputs/rx90b_a_servo.csv --validate inputs/rx90b_b_servo.csv {robot}",
    "transmission": "transmission rx90b predict_elastic/log.csv {robot}",
    "warmup": "warmup inputs/warm.csv {folder}",
    "export_urdf": "export urdf rx90b {urdf}",
    "import_urdf": "import export_urdf/robot.urdf {robot}",
    "complete_rx90b": "complete import_urdf/robot.toml {robot}",
    "complete_puma": "complete inputs/puma560.urdf {robot}",
    "predict_puma": "predict inputs/bead_puma.toml {folder}",
}

# measured data
CASES |= {
    "kr300_identify": f"identify kr300 {KR300}/ident_A.csv.gz --payload recorded --torque tau "
    f"--validate {KR300}/valid_B.csv.gz {{robot}}",
    "kr300_servo": f"servo kr300_identify/robot.toml {KR300}/ident_A.csv.gz --payload recorded "
    f"--validate {KR300}/valid_B.csv.gz {{robot}}",
    "kr300_compare": f"compare kr300_servo/robot.toml {KR300}/valid_B.csv.gz --payload recorded "
    "{folder}",
    "kr300_predict": "predict kr300_frame --nominal --robot kr300_servo/robot.toml "
    "--servo fitted {folder}",
    "kr300_transmission": f"transmission kr300 {KR300}/ident_A.csv.gz "
    f"--validate {KR300}/valid_B.csv.gz {{robot}}",
    "tx40_identify": f"identify tx40 {TX40}/segment_00.csv.gz {TX40}/segment_02.csv.gz "
    f'{TX40}/segment_04.csv.gz --cutoff "60 Hz" --validate {TX40}/segment_08.csv.gz {{robot}}',
    "tx40_import": f"import {TX40}/tx40_mdh_modified.urdf --allow-unphysical {{robot}}",
    "ur10e_import": f"import {UR10E}/ur10e.urdf {{robot}}",
    "ur10e_identify": f"identify ur10e_import/robot.toml {UR10E}/ident_20_01_31_unload.csv.gz "
    '--torque current_des --cutoff "5 Hz" {robot}',
    "ur10e_payload": f"payload ur10e_identify/robot.toml "
    f"--without {UR10E}/ident_20_01_31_unload.csv.gz --with {UR10E}/ident_20_01_31_load.csv.gz "
    "--torque current {robot}",
    "ur10e_constants_refused": f"payload {UR10E}/ur10e.urdf "
    f"--without {UR10E}/ident_20_01_31_unload.csv.gz --with {UR10E}/ident_20_01_31_load.csv.gz "
    '--known "2.6 kg" --torque current {robot}',
    "ur10e_friction": f"friction curves {UR10E}/ur10e.urdf "
    f"{UR10E}/jointwise_20_01_22_joint_1.csv.gz "
    "--sweep --torque current_des {robot}",
    "complete_ur10e": f"complete ur10e_identify/robot.toml {UR10E}/ident_20_01_31_unload.csv.gz "
    "{robot}",
    "ur10e_predict": "predict inputs/bead_ur10e.toml --nominal {folder}",
    "ur5_complete": f"complete {UR5}/ur5.urdf {UR5}/run_b_3_linear_12_45_36.csv.gz {{robot}}",
    "ur5_servo_refused": f"servo {UR5}/ur5.urdf {UR5}/run_b_3_linear_12_45_36.csv.gz {{robot}}",
    "ur5_frequency": f"frequency {UR5}/run_b_3_linear_12_45_36.csv.gz {{folder}}",
    "dualarm_refused": f"identify {DUAL}/dualarm_v2.urdf {DUAL}/ident_cond13.5.csv.gz {{robot}}",
    "dualarm_identify": f"identify {DUAL}/dualarm_v2.urdf {DUAL}/ident_cond13.5.csv.gz "
    f'--gravity "0.39 9.8 -0.07" --validate {DUAL}/ident_cond52.2.csv.gz {{robot}}',
    "dualarm_complete": f"complete {DUAL}/dualarm_v2.urdf {DUAL}/ident_cond13.5.csv.gz {{robot}}",
    "dualarm_servo": f"servo dualarm_complete/robot.toml {DUAL}/ident_cond13.5.csv.gz "
    f"--validate {DUAL}/ident_cond52.2.csv.gz {{robot}}",
    "xmate7_identify": f"identify {XMATE}/xmate7.urdf "
    f"{XMATE}/excitation_first_13s.csv.gz {{robot}}",
    "xmate7_motor_torque": f"identify {XMATE}/xmate7.urdf "
    f"{XMATE}/excitation_first_13s.csv.gz --torque tau_m {{robot}}",
    "gen3_refused": f"identify {GEN3}/kinova_gen3.urdf {GEN3}/ident_run1.csv.gz {{robot}}",
    "gen3_identify": f"identify {GEN3}/kinova_gen3.urdf {GEN3}/ident_run1.csv.gz --trust {{robot}}",
    "formats_csv": "compare rx90b_line data/formats/run.csv.gz {folder}",
    "formats_bag": "compare rx90b_line data/formats/ros2_bag {folder}",
}

# the longest
CASES |= {f"predict_{job}": f"predict {job} {{folder}}" for job in JOBS}
CASES |= {"advise": "predict rx90b_corner_fixed --advise {folder}"}
