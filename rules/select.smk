rule select:
    input:
        stage_target("select"),


rule select_threshold:
    input:
        unpack(reads("select", "threshold")),
    output:
        threshold="<results>/select/{system}/{version}/threshold.json",
        record="<results>/select/{system}/{version}/thresholding.json",
    params:
        command=command("select", "threshold"),
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
        run()


rule select_shard:
    input:
        unpack(reads("select", "shard")),
    output:
        paraphrases="<results>/select/{system}/{version}/{shard}.parquet",
        record="<results>/select/{system}/{version}/{shard}.json",
    params:
        command=command("select", "shard"),
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
        run()
