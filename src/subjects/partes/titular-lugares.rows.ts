/**
 * The places that may hold data of a person, by CPF: one row per table, with its content, the ground to keep it, and the part that may be
 * erased. Every table of the schema is here or in {@link SEM_PESSOAS}; `src/subjects/partes/titular.test.ts` holds both lists to the
 * catalogue (D-679).
 */

/** The legal ground to keep a table, or the lack of one. Articles are of the LGPD (Lei 13.709/2018) unless named otherwise. */
export const BASES = {
  fiscal:
    'documento fiscal: obrigação legal, até passar o prazo (art. 7º, II; art. 16, I; CTN, arts. 173, 174 e 195); depois, nfse guarda eliminar',
  cadastro:
    'cadastro fiscal do município: obrigação legal e competência do ente público (art. 7º, II; art. 23); corrige-se no cadastro',
  trilha: 'registro de quem fez o quê, de que o município presta contas (art. 16, I; art. 37)',
  acesso: 'acesso que a própria pessoa pediu: o que já não vale se apaga; o que vale, encerra-se antes (art. 16)',
  auxiliar: 'índice ou cópia que o serviço fez dos documentos: pode ser apagado (art. 16; art. 18, VI)',
  ensaio: 'de um ambiente de ensaio, e não documento fiscal: pode ser apagado (art. 16; art. 18, VI)',
  passageiro: 'passagem: o serviço o apaga sozinho em horas ou dias (art. 16)',
} as const;
type Base = keyof typeof BASES;

export type Lugar = {
  readonly tabela: string;
  readonly oQue: string;
  /** Condition on the rows `t` of a tenant ($1) that concern a CPF ($2). */
  readonly onde: string;
  readonly base: Base;
  /** Condition on those rows that may be erased in production, at a moment ($3). A rehearsal may erase all but the trail. */
  readonly apaga?: string;
  /** True: the table belongs to the trail that an erasure writes. */
  readonly isTrail?: true;
};

/** SQL: true when a text has a CPF, as bare digits or with points and a dash. */
const standsIn = (text: string, cpf = '$2'): string => {
  const digits = (from: number, many: number): string => `substr(${cpf}::text, ${from}, ${many})`;
  const written = `${digits(1, 3)} || '.' || ${digits(4, 3)} || '.' || ${digits(7, 3)} || '-' || ${digits(10, 2)}`;
  return `strpos(${text}, ${cpf}) > 0 or strpos(${text}, ${written}) > 0`;
};
/** A CPF as keys and identifiers hold it. */
const PADDED = "lpad($2, 14, '0')";
const OF_NOTA = 'n.prestador_cpf_cnpj = $2 or n.tomador_cpf_cnpj = $2 or n.intermediario_cpf_cnpj = $2';
const NOTAS = `select n.mes, n.id from notas n where n.tenant = $1 and (${OF_NOTA})`;
const IDS = `select n.id from notas n where n.tenant = $1 and (${OF_NOTA})`;
const OF_EVENTO = `t.autor = $2 or (t.mes_nota, t.nota) in (${NOTAS}) or ${standsIn('t.campos::text')}`;
const EVENTOS = `select t.mes, t.id from eventos t where t.tenant = $1 and (${OF_EVENTO})`;
const OF_LOTE = `t.prestador = $2 or ${standsIn('t.mensagens::text')} or t.id in (select r.lote from lotes_rps r
  where r.tenant = $1 and (r.prestador = $2 or r.nota in (${IDS}) or ${standsIn('r.guardado::text')}))`;
const LOTES = `select t.id from lotes t where t.tenant = $1 and (${OF_LOTE})`;
const OF_WEBHOOK = `t.documento = $2 or ${standsIn('t.url')} or ${standsIn("coalesce(t.descricao, '')")}`;
const WEBHOOKS = `select t.id from webhooks t where t.tenant = $1 and (${OF_WEBHOOK})`;
const EXPORTACOES = `select e.id from exportacoes e where e.tenant = $1 and (e.documento = $2 or ${standsIn('e.pedida::text')})`;
const has = (...columns: readonly string[]): string =>
  columns.map((column) => standsIn(`coalesce(t.${column}::text, '')`)).join(' or ');

/** Rows that depend on another row stand before it. */
export const LUGARES: readonly Lugar[] = [
  {
    tabela: 'ensaio_requisicoes',
    oQue: 'últimas requisições a um ambiente de ensaio',
    onde: `${has('caminho', 'resposta')} or position($2::bytea in coalesce(t.corpo, '')) > 0`,
    base: 'auxiliar',
    apaga: 'true',
  },
  {
    tabela: 'nomes',
    oQue: 'palavras dos nomes, para a busca do console',
    onde: 't.documento = $2',
    base: 'auxiliar',
    apaga: 'true',
  },
  {
    tabela: 'exportacoes_partes',
    oQue: 'conteúdo de exportações de notas que a pessoa pediu',
    onde: `t.exportacao in (${EXPORTACOES})`,
    base: 'auxiliar',
    apaga: "t.exportacao in (select e.id from exportacoes e where e.tenant = $1 and e.estado <> 'em_andamento')",
  },
  {
    tabela: 'exportacoes',
    oQue: 'exportações de notas que a pessoa pediu',
    onde: `t.id in (${EXPORTACOES})`,
    base: 'auxiliar',
    apaga: "t.estado <> 'em_andamento'",
  },
  {
    tabela: 'tokens',
    oQue: 'tokens com que consulta as suas notas',
    onde: 't.documento = $2',
    base: 'acesso',
    apaga: 't.expira_em < $3 or t.revogado_em is not null',
  },
  {
    tabela: 'entregas',
    oQue: 'avisos enviados aos seus endereços, ou das suas notas',
    onde: `t.webhook in (${WEBHOOKS}) or t.nota in (${IDS}) or ${has('registro', 'mudanca')}`,
    base: 'acesso',
    apaga: "t.estado <> 'pendente' or t.webhook in (select w.id from webhooks w where w.tenant = $1 and not w.ativo)",
  },
  { tabela: 'webhooks', oQue: 'endereços que são avisados', onde: OF_WEBHOOK, base: 'acesso', apaga: 'not t.ativo' },
  {
    tabela: 'idempotencia',
    oQue: 'respostas guardadas para requisições repetidas',
    onde: `t.nota in (${IDS}) or ${has('avisos', 'recusa')}`,
    base: 'passageiro',
  },
  { tabela: 'mudancas_novas', oQue: 'mudanças por contar', onde: has('mudancas'), base: 'passageiro' },
  {
    tabela: 'mudancas',
    oQue: 'mudanças das suas notas, para quem as segue',
    onde: 't.documento = $2',
    base: 'passageiro',
  },
  {
    tabela: 'fila',
    oQue: 'notas, eventos e lotes em andamento',
    onde: `(t.tipo = 'nota' and (t.mes, t.id) in (${NOTAS})) or (t.tipo = 'evento' and (t.mes, t.id) in (${EVENTOS}))
      or (t.tipo = 'lote' and t.id in (${LOTES}))`,
    base: 'fiscal',
  },
  { tabela: 'retidas', oQue: 'notas que esperam uma alíquota', onde: `t.nota in (${IDS})`, base: 'fiscal' },
  {
    tabela: 'trilha_eventos',
    oQue: 'movimentos de eventos',
    onde: `(t.mes, t.evento) in (${EVENTOS})`,
    base: 'fiscal',
  },
  {
    tabela: 'documentos_eventos',
    oQue: 'eventos, como chegaram',
    onde: `(t.mes, t.evento) in (${EVENTOS})`,
    base: 'fiscal',
  },
  { tabela: 'documentos_lotes', oQue: 'lotes de RPS, como chegaram', onde: `t.lote in (${LOTES})`, base: 'fiscal' },
  {
    tabela: 'lotes_rps',
    oQue: 'RPS de lotes',
    onde: `t.lote in (${LOTES})`,
    base: 'fiscal',
  },
  { tabela: 'lotes', oQue: 'lotes de RPS', onde: OF_LOTE, base: 'fiscal' },
  { tabela: 'eventos', oQue: 'eventos que pediu, ou em notas suas', onde: OF_EVENTO, base: 'fiscal' },
  { tabela: 'trilha_notas', oQue: 'movimentos de notas', onde: `(t.mes, t.nota) in (${NOTAS})`, base: 'fiscal' },
  {
    tabela: 'documentos',
    oQue: 'declarações e NFS-e, inteiras',
    onde: `(t.mes, t.nota) in (${NOTAS})`,
    base: 'fiscal',
  },
  {
    tabela: 'identidades',
    oQue: 'identificadores das DPS',
    onde: `t.nota in (${IDS}) or strpos(t.id_dps, ${PADDED}) > 0`,
    base: 'fiscal',
  },
  {
    tabela: 'substituicoes',
    oQue: 'notas que substituem outras',
    onde: `t.nota in (${IDS}) or substr(t.substituida, 10, 14) = ${PADDED}`,
    base: 'fiscal',
  },
  {
    tabela: 'notas',
    oQue: 'notas em que é prestador, tomador ou intermediário',
    onde: OF_NOTA.replaceAll('n.', 't.'),
    base: 'fiscal',
  },
  { tabela: 'numeracao', oQue: 'o último número de NFS-e', onde: 't.prestador = $2', base: 'fiscal' },
  {
    tabela: 'numeracao_dps',
    oQue: 'o próximo número de uma série',
    onde: `strpos(t.serie, ${PADDED}) > 0`,
    base: 'fiscal',
  },
  {
    tabela: 'prestadores',
    oQue: 'cadastro de prestadores, com endereço e contato',
    onde: 't.documento = $2',
    base: 'cadastro',
  },
  { tabela: 'simples_nacional', oQue: 'períodos no Simples Nacional', onde: 't.documento = $2', base: 'cadastro' },
  { tabela: 'beneficios_municipais', oQue: 'benefícios concedidos', onde: '$2 = any (t.documentos)', base: 'cadastro' },
  { tabela: 'regimes_especiais', oQue: 'regimes especiais', onde: 't.documento = $2', base: 'cadastro' },
  { tabela: 'nao_incidencias', oQue: 'não incidências', onde: 't.documento = $2', base: 'cadastro' },
  { tabela: 'importacoes', oQue: 'nomes de arquivos importados', onde: has('arquivo'), base: 'cadastro' },
  {
    tabela: 'mudancas_importadas',
    oQue: 'linhas de cadastros antes e depois de uma importação',
    onde: has('chave', 'antes', 'depois'),
    base: 'cadastro',
  },
  {
    tabela: 'certificados',
    oQue: 'certificados que assinaram documentos',
    onde: 'position($2::bytea in t.der) > 0',
    base: 'fiscal',
  },
  {
    tabela: 'retencoes',
    oQue: 'meses retidos, pelo motivo',
    onde: has('motivo', 'quem'),
    base: 'trilha',
    isTrail: true,
  },
  {
    tabela: 'auditoria',
    oQue: 'corrente de auditoria, pelas chaves do que se gravou',
    onde: has('itens', 'sobre'),
    base: 'trilha',
    isTrail: true,
  },
  {
    tabela: 'atos',
    oQue: 'atos feitos à mão, por ela ou sobre ela',
    onde: has('quem', 'chave', 'motivo', 'antes', 'depois'),
    base: 'trilha',
    isTrail: true,
  },
];

const CONTAS = `select c.id from contas c where c.login = $1 or ${standsIn("coalesce(c.oidc_sujeito, '')", '$1')} or ${standsIn('c.nome', '$1')}`;
/** Accounts that are blocked, or whose invitation has expired. */
const CLOSED = `select c.id from contas c where c.bloqueada_em is not null or (c.senha is null and c.oidc_sujeito is null
  and coalesce(c.convite_expira_em, '-infinity') < $2
  and not exists (select 1 from papeis r where r.conta = c.id and r.convite_expira_em >= $2))`;

/** Tables of the installation, outside every tenant: rows `t` of a CPF ($1), and those that may be erased at a moment ($2). */
export const LUGARES_DA_INSTALACAO: readonly Lugar[] = [
  ...[
    ['sessoes', 'sessões do console'],
    ['passkeys', 'chaves com que entra no console'],
    ['papeis', 'papéis no console'],
  ].map(
    ([tabela, oQue]): Lugar => ({
      tabela: tabela!,
      oQue: oQue!,
      onde: `t.conta in (${CONTAS})`,
      base: 'acesso',
      apaga: `t.conta in (${CLOSED})`,
    }),
  ),
  {
    tabela: 'contas',
    oQue: 'conta no console',
    onde: `t.id in (${CONTAS})`,
    base: 'acesso',
    apaga: `t.id in (${CLOSED})`,
  },
];

/** Tables without data of a person, and the reason. */
export const SEM_PESSOAS: Readonly<Record<string, string>> = {
  aliquotas_ibs_cbs: 'lei',
  tabelas_aliquotas: 'lei',
  arquivos: 'nomes e resumos de arquivos',
  auditoria_ate: 'o fim da corrente de auditoria',
  auditoria_selos: 'selos do município sobre a corrente',
  circuitos: 'estado da conexão ao ADN',
  codigos_em_producao: 'códigos de municípios',
  contagens: 'endereços de rede, por um minuto',
  correlacoes_legadas: 'códigos de serviços',
  deducoes_admitidas: 'códigos de serviços',
  documentos_comprimidos: 'até que nota se comprimiu',
  emissoes: 'contagens',
  ensaios: 'ambientes de ensaio, por chaves',
  fundamentos: 'autoridades certificadoras',
  listas_revogados: 'listas públicas de certificados revogados',
  meses: 'meses',
  migracoes: 'versões do banco',
  migracoes_andamento: 'versões do banco',
  mudancas_ate: 'números',
  municipios: 'configuração do município',
  nomes_lidos: 'até que nota se leu',
  recepcoes_adn: 'números de recepção',
  recusas: 'contagens',
  sequencias: 'números',
  servicos_municipais: 'serviços',
  transmissoes: 'estado da transmissão',
};
