-- Rates of the IBS and the CBS that a sandbox of one's own has beside the national ones, as a list; null: none. Only such a sandbox has them.
alter table municipios add column aliquotas_ibs_cbs jsonb;
