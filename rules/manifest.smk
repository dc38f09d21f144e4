# The last output of every unit: its records, merged. It takes a second or two: on a cluster, where a
# job costs more, Snakemake makes it itself.
rule manifest:
    input:
        unpack(reads(None, "manifest")),
    output:
        manifest="<results>/{unit}/{version}/manifest.json",
    params:
        command=command(None, "manifest"),
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
        run()
