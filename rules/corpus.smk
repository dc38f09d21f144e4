rule corpus:
    input:
        stage_target("corpus"),


# On the machine of Snakemake, also with a cluster, whose nodes may have no way out. What is unfinished
# is no output: Snakemake would delete it before a job starts again. The URL is a resource: another one
# for the same content is no reason to run again.
rule corpus_download:
    output:
        file="<downloads>/{sha256}/{file}",
        record="<downloads>/{sha256}/{file}.json",
    params:
        command=command("corpus", "download"),
    log:
        "<results>/logs/downloads/{sha256}/{file}.log",
    benchmark:
        "<results>/benchmarks/downloads/{sha256}/{file}.tsv"
    resources:
        mem_mb=grows(500),
        runtime=grows(1440),
        url=download_url,
    conda:
        "../envs/text.yaml"
    localrule: True
    shell:
        run("url")


# On the machine of Snakemake as well. The files stand in a folder beside the record, and those that
# are there are not asked for again.
rule corpus_hub:
    output:
        record="<downloads>/hub/{repository}/{revision}.json",
    params:
        command=command("corpus", "hub"),
    log:
        "<results>/logs/downloads/hub/{repository}/{revision}.log",
    benchmark:
        "<results>/benchmarks/downloads/hub/{repository}/{revision}.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(1440),
    conda:
        "../envs/text.yaml"
    localrule: True
    shell:
        run()


rule corpus_import:
    input:
        unpack(reads("corpus", "import")),
    output:
        shards=expand("<results>/corpus/{{corpus}}/{{version}}/{shard}.parquet", shard=EARLY),
        records=expand("<results>/corpus/{{corpus}}/{{version}}/{shard}.json", shard=EARLY),
        rejected="<results>/corpus/{corpus}/{version}/rejected.tsv.zst",
        rejected_record="<results>/corpus/{corpus}/{version}/rejected.tsv.json",
    params:
        command=command("corpus", "import"),
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
        run()


# One job: the shard of a pair is known only with its source.
rule corpus_pair:
    input:
        unpack(reads("corpus", "pair")),
    output:
        shards=expand("<results>/corpus/{{written}}/{{version}}/{shard}.parquet", shard=EARLY),
        records=expand("<results>/corpus/{{written}}/{{version}}/{shard}.json", shard=EARLY),
        rejected="<results>/corpus/{written}/{version}/rejected.tsv.zst",
        rejected_record="<results>/corpus/{written}/{version}/rejected.tsv.json",
    params:
        command=command("corpus", "pair"),
    log:
        "<results>/logs/corpus/{written}/{version}.log",
    benchmark:
        "<results>/benchmarks/corpus/{written}/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()
