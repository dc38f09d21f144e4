# The last output of every unit: its records, merged. It takes a second or two: on a cluster, where a
# job costs more, Snakemake makes it itself.
rule manifest:
    input:
        records=unit_records,
        upstream=upstream_manifests,
        files=awaited_files,
    output:
        manifest="<results>/{unit}/{version}/manifest.json",
    params:
        unit=unit_description,
        folder=lambda wildcards: LAYOUT.folder(*unit_of(wildcards)),
        shards=lambda wildcards: LAYOUT.shards(*unit_of(wildcards)),
        records=lambda wildcards: LAYOUT.other_records(*unit_of(wildcards)),
        upstream=lambda wildcards, input: listed(input.upstream),
    log:
        "<results>/logs/{unit}/{version}/manifest.log",
    benchmark:
        "<results>/benchmarks/{unit}/{version}/manifest.tsv"
    resources:
        mem_mb=grows(1000),
        runtime=grows(60),
    conda:
        "../envs/text.yaml"
    localrule: True
    shell:
        "python -m workflow_scripts.core.files.manifest --unit {params.unit:q} --folder {params.folder:q}"
        " --shards {params.shards} --records {params.records:q} --upstream {params.upstream:q}"
        " --output {output.manifest:q} 2>&1 | tee {log:q}"
