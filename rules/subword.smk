rule subword:
    input:
        stage_target("subword"),


rule subword_train:
    input:
        unpack(reads("subword", "train")),
    output:
        model="<results>/subword/{vocabulary}/{version}/{side}.model",
        record="<results>/subword/{vocabulary}/{version}/{side}.json",
    params:
        command=command("subword", "train"),
    log:
        "<results>/logs/subword/{vocabulary}/{version}/{side}.log",
    benchmark:
        "<results>/benchmarks/subword/{vocabulary}/{version}/{side}.tsv"
    resources:
        mem_mb=grows(8000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule subword_segment:
    input:
        unpack(reads("subword", "segment")),
    output:
        segments="<results>/subword/{vocabulary}/{version}/{shard}.parquet",
        record="<results>/subword/{vocabulary}/{version}/{shard}.json",
    params:
        command=command("subword", "segment"),
    log:
        "<results>/logs/subword/{vocabulary}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/subword/{vocabulary}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()
