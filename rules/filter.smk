rule filter:
    input:
        stage_target("filter"),


rule filter_columns:
    input:
        unpack(reads("filter", "columns")),
    output:
        columns="<results>/filter/{system}/{version}/{shard}.parquet",
        record="<results>/filter/{system}/{version}/{shard}.json",
    params:
        command=command("filter", "columns"),
    log:
        "<results>/logs/filter/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule filter_outside:
    input:
        unpack(reads("filter", "outside")),
    output:
        columns="<results>/filter/{outside}/{version}/0000.parquet",
        record="<results>/filter/{outside}/{version}/0000.json",
    params:
        command=command("filter", "outside"),
    log:
        "<results>/logs/filter/{outside}/{version}/0000.log",
    benchmark:
        "<results>/benchmarks/filter/{outside}/{version}/0000.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule filter_training_set:
    input:
        unpack(reads("filter", "training_set")),
    output:
        pairs="<results>/filter/{training_set}/{version}/pairs.parquet",
        record="<results>/filter/{training_set}/{version}/pairs.json",
    params:
        command=command("filter", "training_set"),
    log:
        "<results>/logs/filter/{training_set}/{version}/pairs.log",
    benchmark:
        "<results>/benchmarks/filter/{training_set}/{version}/pairs.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule filter_language_model:
    input:
        unpack(reads("filter", "language_model")),
    output:
        model="<results>/filter/{language_model}/{version}/{of_corpus}model.binary",
        record="<results>/filter/{language_model}/{version}/{of_corpus}model.json",
    params:
        command=command("filter", "language_model"),
    log:
        "<results>/logs/filter/{language_model}/{version}/{of_corpus}model.log",
    benchmark:
        "<results>/benchmarks/filter/{language_model}/{version}/{of_corpus}model.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/language_model.yaml"
    shell:
        run()


rule filter_perplexity:
    input:
        unpack(reads("filter", "perplexity")),
    output:
        values="<results>/filter/{language_model}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{language_model}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "perplexity"),
    log:
        "<results>/logs/filter/{language_model}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{language_model}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/language_model.yaml"
    shell:
        run()


rule filter_classifier:
    input:
        unpack(reads("filter", "classifier")),
    output:
        weights="<results>/filter/{classifier}-{system}/{version}/{of_corpus}weights.pt",
        vocabulary="<results>/filter/{classifier}-{system}/{version}/{of_corpus}vocabulary.json",
        metrics="<results>/filter/{classifier}-{system}/{version}/{of_corpus}metrics.json",
        record="<results>/filter/{classifier}-{system}/{version}/{of_corpus}model.json",
    params:
        command=command("filter", "classifier"),
    log:
        "<results>/logs/filter/{classifier}-{system}/{version}/{of_corpus}model.log",
    benchmark:
        "<results>/benchmarks/filter/{classifier}-{system}/{version}/{of_corpus}model.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(2880),
    conda:
        "../envs/nmt.yaml"
    shell:
        run()


rule filter_classified:
    input:
        unpack(reads("filter", "classified")),
    output:
        values="<results>/filter/{classifier}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{classifier}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "classified"),
    log:
        "<results>/logs/filter/{classifier}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{classifier}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/nmt.yaml"
    shell:
        run()


rule filter_paraphrase_score:
    input:
        unpack(reads("filter", "paraphrase_score")),
    output:
        values="<results>/filter/{vectors}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{vectors}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "paraphrase_score"),
    log:
        "<results>/logs/filter/{vectors}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{vectors}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule filter_embedding_score:
    input:
        unpack(reads("filter", "embedding_score")),
    output:
        values="<results>/filter/{embedding_column}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{embedding_column}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "embedding_score"),
    log:
        "<results>/logs/filter/{embedding_column}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{embedding_column}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        run()


rule filter_encoder_score:
    input:
        unpack(reads("filter", "encoder_score")),
    output:
        values="<results>/filter/{encoder_column}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{encoder_column}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "encoder_score"),
    log:
        "<results>/logs/filter/{encoder_column}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{encoder_column}-{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        run("device", "threads")


rule filter_feature:
    input:
        unpack(reads("filter", "feature")),
    output:
        values="<results>/filter/{feature}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{feature}-{system}/{version}/{shard}.json",
    params:
        command=command("filter", "feature"),
    log:
        "<results>/logs/filter/{feature}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{feature}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    conda:
        "../envs/embed.yaml"
    shell:
        run()
