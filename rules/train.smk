rule train:
    input:
        stage_target("train"),


# What train_model starts for train.backend mxnet, unless compute.mxnet_python names it. No module of
# ours runs in that environment but this one file. Temporary: a folder of conda's may go away.
rule train_mxnet:
    output:
        temp(LAYOUT.declaration("train").interpreter_record()),
    log:
        "<results>/logs/train/mxnet.log",
    benchmark:
        "<results>/benchmarks/train/mxnet.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(60),
    conda:
        "../envs/mxnet.yaml"
    shell:
        'python "$PYTHONPATH/workflow_scripts/stages/train/interpreter.py" {output:q}'
        " 2>&1 | tee {log:q}"


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule train_model:
    input:
        unpack(reads("train", "model")),
    output:
        model="<results>/train/{role}/{version}/model.json",
    params:
        command=command("train", "model"),
    log:
        "<results>/logs/train/{role}/{version}.log",
    benchmark:
        "<results>/benchmarks/train/{role}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
        mxnet_python=LAYOUT.declaration("train").mxnet_python(),
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "threads", "mxnet_python")


rule train_take_over:
    input:
        unpack(reads("train", "take_over")),
    output:
        model="<results>/train/{finished_role}/{version}/model.json",
    params:
        command=command("train", "take_over"),
    log:
        "<results>/logs/train/{finished_role}/{version}.log",
    benchmark:
        "<results>/benchmarks/train/{finished_role}/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(600),
        device=COMPUTE["device"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "threads")
