rule rewrite:
    input:
        stage_target("rewrite"),


rule rewrite_pairs:
    input:
        unpack(reads("rewrite", "pairs")),
    output:
        shards=expand(
            "<results>/rewrite/{{rewriter}}-pairs/{{version}}/{shard}.parquet", shard=EARLY
        ),
        records=expand("<results>/rewrite/{{rewriter}}-pairs/{{version}}/{shard}.json", shard=EARLY),
    params:
        command=command("rewrite", "pairs"),
    log:
        "<results>/logs/rewrite/{rewriter}-pairs/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-pairs/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        run()


rule rewrite_parse:
    input:
        unpack(reads("rewrite", "parse")),
    output:
        trees="<results>/rewrite/{rewriter}-parses/{version}/{shard}.parquet",
        record="<results>/rewrite/{rewriter}-parses/{version}/{shard}.json",
    params:
        command=command("rewrite", "parse"),
    log:
        "<results>/logs/rewrite/{rewriter}-parses/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-parses/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/syntax.yaml"
    shell:
        run("device", "threads")


rule rewrite_templates:
    input:
        unpack(reads("rewrite", "templates")),
    output:
        shards=expand(
            "<results>/rewrite/{{rewriter}}-templates/{{version}}/{shard}.parquet", shard=EARLY
        ),
        records=expand(
            "<results>/rewrite/{{rewriter}}-templates/{{version}}/{shard}.json", shard=EARLY
        ),
        table="<results>/rewrite/{rewriter}-templates/{version}/templates.tsv",
        record="<results>/rewrite/{rewriter}-templates/{version}/templates.json",
    params:
        command=command("rewrite", "templates"),
    log:
        "<results>/logs/rewrite/{rewriter}-templates/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-templates/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/syntax.yaml"
    shell:
        run()


rule rewrite_vocabulary:
    input:
        unpack(reads("rewrite", "vocabulary")),
    output:
        model="<results>/rewrite/{rewriter}-subword/{version}/{side}.model",
        record="<results>/rewrite/{rewriter}-subword/{version}/{side}.json",
    params:
        command=command("rewrite", "vocabulary"),
    log:
        "<results>/logs/rewrite/{rewriter}-subword/{version}/{side}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-subword/{version}/{side}.tsv"
    resources:
        mem_mb=grows(8000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule rewrite_segment:
    input:
        unpack(reads("rewrite", "segment")),
    output:
        segments="<results>/rewrite/{rewriter}-subword/{version}/{shard}.parquet",
        record="<results>/rewrite/{rewriter}-subword/{version}/{shard}.json",
    params:
        command=command("rewrite", "segment"),
    log:
        "<results>/logs/rewrite/{rewriter}-subword/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-subword/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


# The checkpoints in work/ are no output: see rule train_model.
rule rewrite_train:
    input:
        unpack(reads("rewrite", "train")),
    output:
        model="<results>/rewrite/{trained_rewriter}/{version}/model.json",
    params:
        command=command("rewrite", "train"),
    log:
        "<results>/logs/rewrite/{trained_rewriter}/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{trained_rewriter}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "threads")


rule rewrite_continue:
    input:
        unpack(reads("rewrite", "continue")),
    output:
        model="<results>/rewrite/{continued_rewriter}/{version}/model.json",
    params:
        command=command("rewrite", "continue"),
    log:
        "<results>/logs/rewrite/{continued_rewriter}/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{continued_rewriter}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "threads")


rule rewrite_take_over:
    input:
        unpack(reads("rewrite", "take_over")),
    output:
        model="<results>/rewrite/{finished_rewriter}/{version}/model.json",
    params:
        command=command("rewrite", "take_over"),
    log:
        "<results>/logs/rewrite/{finished_rewriter}/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{finished_rewriter}/{version}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(60),
    conda:
        "../envs/nmt.yaml"
    shell:
        run()


rule rewrite_measure:
    input:
        unpack(reads("rewrite", "measure")),
    output:
        paraphrases="<results>/rewrite/{rewriter}-measures/{version}/paraphrases.jsonl",
        record="<results>/rewrite/{rewriter}-measures/{version}/paraphrases.json",
        measures="<results>/rewrite/{rewriter}-measures/{version}/measures.json",
    params:
        command=command("rewrite", "measure"),
    log:
        "<results>/logs/rewrite/{rewriter}-measures/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-measures/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device", "threads")


rule rewrite_control:
    input:
        unpack(reads("rewrite", "control")),
    output:
        answers="<results>/rewrite/{rewriter}-control/{version}/answers.tsv",
        record="<results>/rewrite/{rewriter}-control/{version}/answers.json",
        measures="<results>/rewrite/{rewriter}-control/{version}/control.json",
    params:
        command=command("rewrite", "control"),
    log:
        "<results>/logs/rewrite/{rewriter}-control/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-control/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(480),
        device=COMPUTE["device"],
        batch_rows=COMPUTE["batch_rows"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device", "batch_rows", "threads")


rule rewrite_repair:
    input:
        unpack(reads("rewrite", "repair")),
    output:
        sentences="<results>/rewrite/{rewriter}-repair/{version}/sentences.tsv",
        record="<results>/rewrite/{rewriter}-repair/{version}/sentences.json",
        repair="<results>/rewrite/{rewriter}-repair/{version}/repair.json",
    params:
        command=command("rewrite", "repair"),
    log:
        "<results>/logs/rewrite/{rewriter}-repair/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-repair/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device", "threads")
