-- Addresses by the root of the CNPJ, or the CPF, that they are of: counted together, and told in turns.
create index concurrently webhooks_raiz on webhooks (tenant, left(documento, case length(documento) when 14 then 8 else 11 end));
