-- The benefits that a municipality grants (nBM): of which services and providers, what each does to the tax, and when.
create table beneficios_municipais (
  tenant text not null references municipios,
  numero text not null check (numero ~ '^[0-9]{14}$'),
  inicio date not null,
  fim date check (fim >= inicio),
  descricao text not null,
  tipo text not null check (tipo in ('isencao', 'reducao_percentual', 'reducao_valor', 'aliquota_diferenciada')),
  -- The most that the base may be reduced by, in percent.
  reducao numeric(5, 2) check (reducao > 0 and reducao <= 100),
  aliquota numeric(5, 2) check (aliquota between 0 and 100),
  -- National codes, and CNPJ or CPF; empty: all of them.
  servicos text[] not null,
  documentos text[] not null,
  primary key (tenant, numero, inicio),
  check ((tipo = 'reducao_percentual') = (reducao is not null)),
  check ((tipo = 'aliquota_diferenciada') = (aliquota is not null))
);

-- See 002: without statistics of the tenant the longest key always wins.
alter table beneficios_municipais alter column tenant set statistics 0;
