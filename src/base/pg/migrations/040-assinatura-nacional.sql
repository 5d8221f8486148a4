-- Digests that the national door takes of a signature: sha256, or sha1 as well. Null: sha256.
alter table municipios add column assinatura_nacional text;
