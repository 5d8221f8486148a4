-- Where the automatic numbers of a series have got ahead of the NFS-e number, because those between were taken by the sender's own hand:
-- the next to try. Read and written under the lock of the provider's row in numeracao; a series that never was ahead has no row.
create table numeracao_dps (
  tenant text not null references municipios,
  -- What the identifiers of the DPS of one series begin with: municipality, provider and series.
  serie text not null,
  proximo bigint not null,
  primary key (tenant, serie)
);
alter table numeracao_dps alter column tenant set statistics 0;
