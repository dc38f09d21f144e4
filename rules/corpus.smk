rule corpus:
    input:
        stage_target("corpus"),


# Files count by their content, which names the folder; a later time alone is no reason to run.
rule corpus_import:
    input:
        ancient(corpus_files),
    output:
        shards=expand("<results>/corpus/{{corpus}}/{{version}}/{shard}.parquet", shard=EARLY),
        records=expand("<results>/corpus/{{corpus}}/{{version}}/{shard}.json", shard=EARLY),
        rejected="<results>/corpus/{corpus}/{version}/rejected.tsv.zst",
        rejected_record="<results>/corpus/{corpus}/{version}/rejected.tsv.json",
    params:
        config=unit_config("corpus"),
        folder=unit_folder("corpus"),
    log:
        "<results>/logs/corpus/{corpus}/{version}.log",
    benchmark:
        "<results>/benchmarks/corpus/{corpus}/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.corpus.importer --config {params.config:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"
