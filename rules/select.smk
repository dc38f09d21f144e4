rule select:
    input:
        stage_target("select"),


rule select_threshold:
    input:
        scored=unit_file("score", "manifest.json"),
        bounding=bounding_manifests,
    output:
        threshold="<results>/select/{system}/{version}/threshold.json",
        record="<results>/select/{system}/{version}/thresholding.json",
    params:
        config=unit_config("select"),
        folder=unit_folder("score"),
        bounding=bounding_options,
        shards=len(LATE),
    log:
        "<results>/logs/select/{system}/{version}/threshold.log",
    benchmark:
        "<results>/benchmarks/select/{system}/{version}/threshold.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.select.threshold --config {params.config:q}"
        " --folder {params.folder:q} {params.bounding:q} --shards {params.shards}"
        " --output {output.threshold:q} 2>&1 | tee {log:q}"


rule select_shard:
    input:
        scored=unit_file("score", "{shard}.parquet"),
        judged=judged_shard,
        threshold="<results>/select/{system}/{version}/threshold.json",
        model=pieces_file,
    output:
        paraphrases="<results>/select/{system}/{version}/{shard}.parquet",
        record="<results>/select/{system}/{version}/{shard}.json",
    params:
        config=unit_config("select"),
        judged=judged_options,
        model=pieces_folder,
    log:
        "<results>/logs/select/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/select/{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(480),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.select.shard --config {params.config:q}"
        " --input {input.scored:q} {params.judged:q} --threshold {input.threshold:q}"
        " --model {params.model:q} --output {output.paraphrases:q} 2>&1 | tee {log:q}"
