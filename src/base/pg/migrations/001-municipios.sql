-- Every key begins with the tenant, and every statement that writes or locks names one tenant, so that the whole
-- schema distributes by tenant. Published names are columns with the same spelling.
--
-- Of the column `tenant` no table has statistics. Every index begins with it, so a planner that believes a tenant to be small, as it
-- does of one that came after the last statistics, takes any of them and reads all rows of the tenant (measured: 9,999 of 10,000 to find
-- one note). Without them it knows nothing of a single tenant, and the longest key always wins.

create table municipios (
  tenant text primary key check (tenant ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  ambiente text not null check (ambiente in ('producao', 'homologacao')),
  -- Null for the sandbox, which is every municipality's.
  codigo_ibge text check (codigo_ibge ~ '^[0-9]{7}$'),
  criado_em timestamptz not null,
  -- What a production municipality has set. Files are named by their absolute paths; keys and passwords are never here.
  -- ISS rate of every service while the municipality has no service list of its own.
  aliquota_padrao numeric(5, 2) check (aliquota_padrao between 0 and 100),
  -- Directory of trust anchors; null: the national roots that come with the program.
  ancoras text,
  -- Directory of revocation lists.
  revogados text,
  adn_url text,
  -- Who signs the ADN's own certificate; null: whoever the operating system trusts.
  adn_ca text,
  adn_certificado text,
  adn_chave text,
  adn_pfx text,
  adn_senha_arquivo text,
  -- How documents are packed for the ADN. Null: as usual.
  adn_compressao text check (adn_compressao in ('usual', 'nenhuma')),
  -- What the specification lets a municipality choose; null: what its ambiente does.
  -- Whether a national rule that the specification does not name refuses, or is a remark (D-86).
  regras_nacionais text check (regras_nacionais in ('recusa', 'avisa')),
  -- Who may read a note by the identifier of its DPS: anybody, or a party with its certificate (D-41).
  consulta_dps text check (consulta_dps in ('publica', 'parte')),
  -- RSA-SHA1 with inclusive canonicalisation is accepted on the legacy port (D-70).
  soap_sha1 boolean not null default false,
  -- Target namespace of its description; null: the one of the service of this name in the wild.
  soap_namespace text,
  -- A DPS without number is refused: the municipality wants every repetition to be recognised.
  exige_numero boolean not null default false,
  -- The request of an event that does not name its note is refused: signed once, it would serve on any other of its author.
  exige_nota_no_evento boolean not null default false,
  -- How much an address of the network and a provider may send (0: no limit), and how long a rehearsal keeps what it stores, in days
  -- (0: for ever). Null: as in the ambiente.
  limite_endereco integer check (limite_endereco >= 0),
  limite_prestador integer check (limite_prestador >= 0),
  guarda_dias integer check (guarda_dias >= 0),
  -- A municipality that is closed answers questions, and neither issues nor registers nor transmits: it is being moved, or was.
  fechado boolean not null default false,
  -- An address comes with one pair of files, and no pair without an address. A key in PEM may have no password.
  constraint municipios_adn check (
    num_nonnulls(adn_url, adn_certificado, adn_chave, adn_pfx, adn_senha_arquivo) = 0 and adn_ca is null
    or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 2 and adn_pfx is null
    or adn_url is not null and num_nonnulls(adn_certificado, adn_chave) = 0 and num_nonnulls(adn_pfx, adn_senha_arquivo) = 2
  )
);

-- Which municipality issues in production under a code: one, whatever else is distributed by tenant (a reference table there).
create table codigos_em_producao (codigo_ibge text primary key, tenant text not null);

-- What strangers asked for and did not find, counted together by all processes and machines: a bucket an address. It is worth a minute, so
-- nothing of it is logged, copied to a replica or kept over a crash. No tenant's: an address asks all of them.
create unlogged table contagens (
  contagem text not null,
  rede text not null,
  tamanho double precision not null,
  resta double precision not null,
  -- Seconds since 1970, by the clock of the database.
  em double precision not null,
  -- Whether the last one who took found enough.
  coube boolean not null,
  primary key (contagem, rede)
);

-- The municipal registry: one row an establishment, of which a document may have several. One municipal registration is one establishment
-- however it is written: without punctuation and leading zeros.
create table prestadores (
  tenant text not null references municipios,
  documento text not null check (length(documento) in (11, 14)),
  inscricao_municipal text not null default '',
  razao_social text not null,
  nome_fantasia text,
  autorizado boolean not null,
  logradouro text not null,
  numero text not null,
  complemento text,
  bairro text not null,
  cep text not null,
  fone text,
  email text,
  -- 'cadastro' by the municipality, 'dps' by the first DPS in the sandbox.
  origem text not null check (origem in ('cadastro', 'dps')),
  criado_em timestamptz not null,
  inscricao_comparavel text not null generated always as (
    regexp_replace(regexp_replace(inscricao_municipal, '[^0-9A-Za-z]', '', 'g'), '^0+(?=.)', '')
  ) stored,
  primary key (tenant, documento, inscricao_comparavel)
);

-- When a provider was in the Simples Nacional; whoever writes sees that the periods of one do not overlap.
create table simples_nacional (
  tenant text not null references municipios,
  documento text not null check (length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  primary key (tenant, documento, inicio)
);

-- The municipal service list; a municipality without one administers every national code.
create table servicos_municipais (
  tenant text not null references municipios,
  codigo text not null,
  inicio date not null,
  fim date,
  descricao text not null,
  codigo_tributacao_nacional text not null,
  cnae_codigo text,
  aliquota numeric(5, 2),
  primary key (tenant, codigo, inicio)
);

-- A DPS names a national code more often than a municipal one.
create index servicos_municipais_nacional on servicos_municipais (tenant, codigo_tributacao_nacional);

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

-- Of which services a municipality admits a deduction, and in which forms; a service that is not here admits none.
create table deducoes_admitidas (
  tenant text not null references municipios,
  codigo_tributacao_nacional text not null check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  inicio date not null,
  fim date check (fim >= inicio),
  formas text[] not null check (formas <> '{}' and formas <@ '{valor,documentos,percentual}'),
  primary key (tenant, codigo_tributacao_nacional, inicio)
);

-- Which provider is in which special regime (regEspTrib), and what the municipality does not tax. An empty document is every provider.
create table regimes_especiais (
  tenant text not null references municipios,
  regime text not null check (regime in ('1', '2', '3', '4', '5', '6', '9')),
  documento text not null check (documento = '' or length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  -- National codes; empty: all of them.
  servicos text[] not null,
  primary key (tenant, regime, documento, inicio)
);

create table nao_incidencias (
  tenant text not null references municipios,
  codigo_tributacao_nacional text not null check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  documento text not null check (documento = '' or length(documento) in (11, 14)),
  inicio date not null,
  fim date check (fim >= inicio),
  primary key (tenant, codigo_tributacao_nacional, documento, inicio)
);

-- What a municipality adds to an item of the list of services, or to one of its own codes, for clients that cannot say it.
create table correlacoes_legadas (
  tenant text not null references municipios,
  -- `01.01`
  item text not null check (item ~ '^[0-9]{2}[.][0-9]{2}$'),
  -- Empty: whatever the code is.
  codigo_municipal text not null default '',
  codigo_tributacao_nacional text check (codigo_tributacao_nacional ~ '^[0-9]{6}$'),
  nbs text check (nbs ~ '^[0-9]{9}$'),
  cst text check (cst ~ '^[0-9]{3}$'),
  c_class_trib text check (c_class_trib ~ '^[0-9]{6}$'),
  c_ind_op text check (c_ind_op ~ '^[0-9]{6}$'),
  tp_imunidade text check (tp_imunidade ~ '^[1-5]$'),
  n_bm text check (n_bm ~ '^[0-9]{14}$'),
  primary key (tenant, item, codigo_municipal)
);

-- Why the notes of a municipality are not transmitted, as the worker last saw it, for the operator. Null: solved.
create table transmissoes (
  tenant text primary key references municipios,
  problema text,
  -- Since when it is this problem.
  desde timestamptz,
  visto_em timestamptz not null,
  check ((problema is null) = (desde is null))
);

-- The highest reception number that the national environment has answered to a municipality.
create table recepcoes_adn (
  tenant text primary key references municipios,
  nsu bigint not null
);

create table certificados (
  tenant text not null references municipios,
  impressao bytea not null,
  der bytea not null,
  primary key (tenant, impressao)
);

-- The rates of the IBS and the CBS are national law and no tenant's: the same two small tables wherever a tenant lies (reference
-- tables, where the schema is distributed). They are written by imports alone, and nothing in them is ever taken away.

-- One state of the rates, from 1 on: what an import made of the one before.
create table tabelas_aliquotas (
  versao integer primary key check (versao > 0),
  em timestamptz not null,
  -- Name of the file, and who imported it, by their name on the machine; null: the table that the program ships.
  arquivo text,
  quem text,
  novas integer not null,
  alteradas integer not null,
  -- Of those, the ones that speak of days that had already passed.
  retroativas integer not null
);

-- Of uf, municipio and c_class_trib empty text means all. Who was judged by version v was judged by the rows that came with v or
-- before, and were not replaced with v or before.
create table aliquotas_ibs_cbs (
  tributo text not null check (tributo in ('IBS-UF', 'IBS-MUN', 'CBS')),
  c_class_trib text not null default '' check (c_class_trib ~ '^([0-9]{6})?$'),
  uf text not null default '' check (uf ~ '^([A-Z]{2})?$' and (uf = '' or tributo = 'IBS-UF')),
  municipio text not null default '' check (municipio ~ '^([0-9]{7})?$' and (municipio = '' or tributo = 'IBS-MUN')),
  inicio date not null,
  fim date check (fim >= inicio),
  -- Percent.
  aliquota numeric(7, 4) not null check (aliquota between 0 and 100),
  fonte text not null,
  ato text not null,
  versao integer not null references tabelas_aliquotas,
  substituida integer references tabelas_aliquotas check (substituida > versao),
  primary key (tributo, c_class_trib, uf, municipio, inicio, versao)
);

alter table prestadores alter column tenant set statistics 0;
alter table simples_nacional alter column tenant set statistics 0;
alter table servicos_municipais alter column tenant set statistics 0;
alter table beneficios_municipais alter column tenant set statistics 0;
alter table deducoes_admitidas alter column tenant set statistics 0;
alter table regimes_especiais alter column tenant set statistics 0;
alter table nao_incidencias alter column tenant set statistics 0;
alter table correlacoes_legadas alter column tenant set statistics 0;
