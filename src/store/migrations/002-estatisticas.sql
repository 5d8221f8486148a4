-- Every index begins with the tenant, so a planner that believes a tenant to be small, as it does of one that came after
-- the last statistics, takes any of them and reads all rows of the tenant (measured: 9,999 of 10,000 to find one note).
-- Without statistics of the column it knows nothing of a single tenant, and the longest key always wins.
alter table notas alter column tenant set statistics 0;
alter table documentos alter column tenant set statistics 0;
alter table trilha_notas alter column tenant set statistics 0;
alter table numeracao alter column tenant set statistics 0;
alter table prestadores alter column tenant set statistics 0;
