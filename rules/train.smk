rule train:
    input:
        stage_target("train"),


# The checkpoints in work/ are no output: Snakemake deletes outputs before a job starts again, and
# training must go on from where it was killed.
rule train_model:
    input:
        segments=upstream_file("train", "manifest.json"),
        source=upstream_file("train", "source.model"),
        reference=upstream_file("train", "reference.model"),
    output:
        model="<results>/train/{role}/{version}/model.json",
    params:
        config=unit_config("train"),
        inputs=unit_inputs("train"),
        segments=upstream_folder("train"),
        shards=len(EARLY),
        folder=unit_folder("train"),
    log:
        "<results>/logs/train/{role}/{version}.log",
    benchmark:
        "<results>/benchmarks/train/{role}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
        mxnet_python=COMPUTE["mxnet_python"],
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.stages.train.sockeye --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --folder {params.segments:q} --shards {params.shards}"
        " --source-model {input.source:q} --reference-model {input.reference:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --mxnet-python {resources.mxnet_python:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


# The user's files and downloads count by their content, which names the folder; a later time alone is
# no reason to run. A package is looked up by the job, in the job's own environment.
rule train_take_over:
    input:
        ancient(finished_model_files),
        pairs=read_manifests("train", "{finished_role}"),
    output:
        model="<results>/train/{finished_role}/{version}/model.json",
    params:
        config=unit_config("train", "{finished_role}"),
        inputs=unit_inputs("train", "{finished_role}"),
        pairs=finished_model_pairs,
        shards=len(EARLY),
        folder=unit_folder("train", "{finished_role}"),
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
        "python -m workflow_scripts.stages.train.take_over --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --folder {params.pairs:q} --shards {params.shards}"
        " --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"
