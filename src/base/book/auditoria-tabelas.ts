/**
 * The tables and columns of a municipality that the audit chain tells, and the digested text of a row. Columns that are not told are listed
 * here as well, each with its reason. A test finds a column that is in neither list (D-666).
 */
import { LISTA_NOMES, LISTAS, type ListaNome, splitColumns } from '../../fiscal/registers.ts';
import { SETTINGS } from '../../fiscal/settings.ts';
import { resumoOf } from './auditoria-hash.ts';
import { NOTA_TYPES } from './nota-columns.ts';

/**
 * Forms in which a value is written: as in PostgreSQL, a moment in microseconds, a day, a digest of bytes. `logico` and `zero` leave out
 * false and 0.
 */
type Forma = 'texto' | 'momento' | 'dia' | 'bytes' | 'logico' | 'zero';

type Coluna = { readonly nome: string; readonly forma: Forma };

export type Auditada = {
  readonly tabela: string;
  /** The primary key without the tenant. */
  readonly chave: readonly string[];
  /** Columns in the order of their names. */
  readonly colunas: readonly Coluna[];
  /** The thing that a row belongs to and is deleted with; the first column of the key identifies it. */
  readonly familia: 'nota' | 'evento' | 'lote' | undefined;
};

const FORMAS: Readonly<Record<string, Forma>> = { t: 'momento', d: 'dia', b: 'bytes', l: 'logico', '0': 'zero' };

/** `name`, or `name:t` with the letter of its form. */
function columnsOf(names: string): readonly Coluna[] {
  const read = names.split(/\s+/).map((word): Coluna => {
    const [nome, letter] = word.split(':') as [string, string | undefined];
    return { nome, forma: letter === undefined ? 'texto' : FORMAS[letter]! };
  });
  return read.toSorted((one, other) => (one.nome < other.nome ? -1 : 1));
}

function auditada(tabela: string, chave: string, names: string, familia?: Auditada['familia']): Auditada {
  return { tabela, chave: chave.split(' '), colunas: columnsOf(names), familia };
}

const SETTING_NAMES = SETTINGS.map(([, { column, sql }]) => (sql === 'boolean' ? `${column}:l` : column)).join(' ');
/** Columns that an issuance fills, except those that a move may change. */
const NOTA_NAMES = NOTA_TYPES.filter(([nome]) => nome !== 'tabela_aliquotas')
  .map(([nome, sql]) => (sql === 'timestamptz' ? `${nome}:t` : sql === 'date' ? `${nome}:d` : nome))
  .join(' ');
const MOVIMENTO = 'mes movimento em:t de gatilho para mensagem quem resposta';

type TabelaDeLista = (typeof LISTAS)[ListaNome]['table'];
/** The lists by their tables, each with all its columns. */
const LISTAS_AUDITADAS = Object.fromEntries(
  LISTA_NOMES.map((nome) => {
    const { key, told } = splitColumns(nome);
    const names = [...key, ...told, 'inicio:d', 'fim:d'].join(' ');
    return [LISTAS[nome].table, auditada(LISTAS[nome].table, [...key, 'inicio'].join(' '), names)];
  }),
) as Readonly<Record<TabelaDeLista, Auditada>>;

/** Audited tables by their name in an entry. */
export const AUDITADAS = {
  /** Columns of a note that never change. */
  notas: auditada('notas', 'id mes', `id mes numero_dps prestador_cpf_cnpj ${NOTA_NAMES}`, 'nota'),
  /** Columns of a note that its moves change. */
  notas_estado: auditada(
    'notas',
    'id mes',
    `id mes estado movimentos data_autorizacao:t data_cancelamento:t mensagem_retorno tabela_aliquotas nsu_recepcao
    assinatura:b certificado:b`,
    'nota',
  ),
  /** Documents by their content, independent of their storage form. */
  documentos: auditada('documentos', 'nota mes', 'nota mes recebido:b nfse:b recebido_assinatura confianca', 'nota'),
  trilha_notas: auditada('trilha_notas', 'nota mes movimento', `nota ${MOVIMENTO}`, 'nota'),
  eventos: auditada(
    'eventos',
    'id',
    `id mes nota mes_nota ordem codigo_tipo_evento numero_sequencial cancela estado aberto desde:t movimentos
    reprocessamentos_count ultimo_reprocessamento_em:t aguardando_desde:t criado_em:t processado_em:t codigo_retorno
    mensagem_retorno erros_adn autor campos simular nsu_antes nsu_recepcao assinatura:b certificado:b arquivado_em:t entre_partes`,
    'evento',
  ),
  documentos_eventos: auditada(
    'documentos_eventos',
    'evento mes',
    'evento mes recebido:b recebido_assinatura confianca xml:b',
    'evento',
  ),
  trilha_eventos: auditada('trilha_eventos', 'evento mes movimento', `evento ${MOVIMENTO}`, 'evento'),
  lotes: auditada(
    'lotes',
    'id',
    `id mes protocolo prestador numero_lote impressao:b situacao aberto recebido_em:t processado_em:t mensagens simular refeito`,
    'lote',
  ),
  documentos_lotes: auditada('documentos_lotes', 'lote mes', 'lote mes recebido:b confianca', 'lote'),
  lotes_rps: auditada(
    'lotes_rps',
    'lote ordem',
    'lote ordem prestador serie numero tipo nota mes_nota guardado',
    'lote',
  ),
  municipios: auditada(
    'municipios',
    'tenant',
    `criado_em:t ensaio_ate:t relogio_ms:0 exige_cadastro:l aliquotas_ibs_cbs ${SETTING_NAMES}`,
  ),
  prestadores: auditada(
    'prestadores',
    'documento inscricao_comparavel',
    `documento inscricao_municipal razao_social nome_fantasia autorizado logradouro numero complemento bairro cep fone email
    origem criado_em:t`,
  ),
  simples_nacional: auditada('simples_nacional', 'documento inicio', 'documento inicio:d fim:d'),
  ...LISTAS_AUDITADAS,
  correlacoes_legadas: auditada(
    'correlacoes_legadas',
    'item codigo_municipal',
    'item codigo_municipal codigo_tributacao_nacional nbs cst c_class_trib c_ind_op tp_imunidade n_bm',
  ),
  atos: auditada('atos', 'em id', 'em:t id quem via objeto chave acao motivo antes depois'),
  importacoes: auditada('importacoes', 'id', 'id em:t registro ordem arquivo quem via desfeita_em:t'),
  tokens: auditada('tokens', 'id', 'id documento impressao:b escopos criado_em:t expira_em:t revogado_em:t por pedido'),
  webhooks: auditada(
    'webhooks',
    'id',
    'id documento url tipos descricao segredo:b segredo_anterior:b anterior_ate:t ativo pendente:l criado_em:t',
  ),
  arquivos: auditada(
    'arquivos',
    'mes geracao',
    'mes geracao nome bytes sha256:b anterior:b certificado:b linhas criado_em:t pronto_em:t trazido_em:t fundamentos',
  ),
  fundamentos: auditada('fundamentos', 'id', 'id impressao:b em:t cadeia listas'),
  retencoes: auditada('retencoes', 'mes', 'mes motivo quem desde:t'),
  auditoria_selos: auditada('auditoria_selos', 'dia', 'dia:d lugar texto assinatura:b em:t'),
} as const satisfies Readonly<Record<string, Auditada>>;

export type Vista = keyof typeof AUDITADAS;
export const VISTAS = Object.keys(AUDITADAS) as readonly Vista[];

/**
 * Rows that never change once they are written. A second entry about such a row shows a foreign change, and the first entry counts. An
 * exception: the documents of a held note are written again on its release.
 */
const UMA_VEZ: ReadonlySet<Vista> = new Set([
  ...(['notas', 'documentos', 'trilha_notas', 'documentos_eventos', 'trilha_eventos', 'documentos_lotes'] as const),
  ...(['atos', 'fundamentos', 'auditoria_selos'] as const),
]);

export function isUmaVez(item: string): boolean {
  return UMA_VEZ.has((JSON.parse(item) as [Vista])[0]);
}

/**
 * The act that may delete a row: none; the elimination of its month; or, for a register, an act that stands beside it in the chain. The
 * other rows need none. Tokens expire, owners withdraw addresses, and any later process deletes a draft of a file.
 */
export type Apagavel = 'nunca' | 'mes' | 'ato' | 'livre';

const LIVRES: ReadonlySet<string> = new Set<Vista>(['tokens', 'webhooks', 'arquivos', 'importacoes']);
const COM_O_MES: ReadonlySet<string> = new Set(['nota', 'evento', 'lote', 'fundamentos' satisfies Vista]);
const POR_ATO: ReadonlySet<string> = new Set<Vista>([
  ...(['prestadores', 'simples_nacional', 'correlacoes_legadas', 'retencoes'] as const),
  ...LISTA_NOMES.map((nome) => LISTAS[nome].table),
]);

/** The rule for a line that tells a deletion ({@link apagada}). */
export function apagavelOf(item: string): Apagavel {
  const [name] = JSON.parse(item.slice(1)) as [string];
  if (LIVRES.has(name)) return 'livre';
  if (COM_O_MES.has(name)) return 'mes';
  return POR_ATO.has(name) ? 'ato' : 'nunca';
}

/**
 * Rows and columns that no entry tells, by `table` or `table.column`, and why. The verification computes the expected content of the first
 * part itself.
 */
export const SEM_ENTRADA: Readonly<Record<string, string>> = {
  identidades: 'segue das notas: a verificação compara linha por linha',
  substituicoes: 'segue das notas que substituem outra: a verificação compara linha por linha',
  retidas: 'segue das notas retidas: a verificação compara linha por linha',
  certificados:
    'a chave é o SHA-256 do conteúdo, e a verificação o recalcula; o que notas e eventos nomeiam tem de estar lá',
  listas_revogados:
    'a chave é o SHA-256 do conteúdo, e a verificação o recalcula; o que fundamentos nomeiam tem de estar lá',
  numeracao: 'segue das notas: o último número é o da última nota do prestador',
  auditoria: 'é a própria corrente',
  'documentos.pacote': 'o mesmo conteúdo comprimido: a verificação o abre e compara',
  'documentos.dicionario': 'com que se abre o pacote',
  'documentos.certificado': 'com que se abre o pacote',
  'documentos.partes': 'segue da nota: a verificação o refaz',
  // The tables below hold no records: their loss harms nobody.
  auditoria_ate: 'o fim da corrente, que a verificação compara; e quando se verificou',
  fila: 'o que há a fazer: prazos, reservas e tentativas; o que falta nela a verificação acha pelo estado de notas, eventos e lotes',
  idempotencia: 'respostas guardadas por algumas horas para quem repete um pedido',
  sequencias: 'números que podem ter falhas; repetido, o banco o recusa pela chave',
  numeracao_dps: 'de onde se procura o próximo número livre; o que está em uso o banco recusa',
  recepcoes_adn: 'de onde se procura no ADN uma resposta perdida',
  'notas.nsu_antes': 'de onde se procura no ADN uma resposta perdida',
  documentos_comprimidos: 'até onde se comprimiu',
  transmissoes: 'o que o operador vê de um problema que passa',
  circuitos: 'se o ADN responde, visto há pouco',
  emissoes: 'contagem para um gráfico, que a queda de um processo perde',
  recusas: 'contagem para um gráfico, que a queda de um processo perde',
  nomes: 'palavras para a busca, refeitas das notas',
  nomes_lidos: 'até onde a busca leu',
  mudancas_novas: 'o que as trilhas dizem, a caminho de quem acompanha',
  mudancas_ate: 'até onde se contou a quem acompanha',
  mudancas: 'o que as trilhas dizem, para quem acompanha; esquecido depois de um prazo',
  mudancas_importadas: 'com que se desfaz a última importação; o que ela e o desfazer gravam está nas entradas',
  entregas: 'tentativas de avisar; o que se avisa está nas trilhas',
  exportacoes: 'arquivos feitos das notas, guardados por alguns dias',
  exportacoes_partes: 'arquivos feitos das notas, guardados por alguns dias',
  ensaios: 'ambientes de ensaio de terceiros, que acabam sozinhos',
  ensaio_requisicoes: 'últimas requisições de um ambiente de ensaio de terceiros',
  migracoes_andamento: 'até onde foi uma migração',
  codigos_em_producao: 'segue dos municípios: nenhum endereço tem dois em produção, e a chave o garante',
  'lotes.requisicao': 'de que requisição veio, para quem procura; a nota dele a conta',
  'webhooks.falhas': 'o que houve com as últimas tentativas',
  'webhooks.proxima': 'quando se tenta de novo',
  'webhooks.claims': 'quem o tem em mãos',
  'webhooks.alterado': 'se mudou enquanto alguém o tinha em mãos',
  'webhooks.reservado_ate': 'até quando alguém o tem em mãos',
  'webhooks.problema': 'o que houve com as últimas tentativas',
  'webhooks.problema_em': 'o que houve com as últimas tentativas',
  'webhooks.rapido': 'o que houve com as últimas tentativas',
  'prestadores.inscricao_comparavel': 'o banco a faz da inscrição',
};

/** The value of a column of `t` as text; null: it is left out. */
function textInSql({ nome, forma }: Coluna, alias: string): string {
  const column = `${alias}.${nome}`;
  if (forma === 'momento') return `trunc(extract(epoch from ${column} at time zone 'UTC') * 1000000)::text`;
  if (forma === 'dia') return `to_char(${column}, 'YYYY-MM-DD')`;
  if (forma === 'bytes') return `encode(sha256(${column}), 'hex')`;
  if (forma === 'logico') return `nullif(${column}::text, 'false')`;
  if (forma === 'zero') return `nullif(${column}::text, '0')`;
  return `${column}::text`;
}

/** SQL: item, text and digest of a row of a table, under an alias. */
export function rowInSql(
  vista: Vista,
  alias = 't',
): { readonly item: string; readonly texto: string; readonly resumo: string } {
  const { chave, colunas } = AUDITADAS[vista] as Auditada;
  const names = colunas.map(({ nome }) => `'${nome}'`).join(', ');
  const values = colunas.map((coluna) => textInSql(coluna, alias)).join(', ');
  const texto = `'${vista}' || chr(10) || json_strip_nulls(json_object(array[${names}], array[${values}]))::text`;
  // The tenant appears in no text, and is the whole key of one table.
  const keys = chave
    .filter((column) => column !== 'tenant')
    .map((column) => textInSql(colunas.find(({ nome }) => nome === column) ?? { nome: column, forma: 'texto' }, alias));
  return {
    item: `'["${vista}"'${keys.map((key) => ` || ',' || to_json(${key})::text`).join('')} || ']'`,
    texto,
    resumo: `sha256(convert_to(${texto}, 'UTF8'))`,
  };
}

/**
 * SQL: the values of a row of a table, in the order of its columns, for {@link folhaOfSaid}. Citus allows no other call in `returning` .
 */
export function saidInSql(vista: Vista, alias: string): string {
  return `array[${(AUDITADAS[vista] as Auditada).colunas.map((coluna) => textInSql(coluna, alias)).join(', ')}]`;
}

/** The name of a row in an entry. `chave`: as text, in the order of its key. */
export function itemOf(vista: Vista, chave: readonly string[]): string {
  return JSON.stringify([vista, ...chave]);
}

/** The text of a row that was just made: its columns as the database will store them. */
export function textoOf(vista: Vista, valores: Readonly<Record<string, string | null | undefined>>): string {
  const said: Record<string, string> = {};
  for (const { nome } of (AUDITADAS[vista] as Auditada).colunas) {
    const value = valores[nome];
    if (value !== null && value !== undefined) said[nome] = value;
  }
  return `${vista}\n${JSON.stringify(said)}`;
}

/** A row as an entry has it. */
export function folhaOf(
  vista: Vista,
  chave: readonly string[],
  valores: Readonly<Record<string, string | null | undefined>>,
): { readonly item: string; readonly resumo: string } {
  return { item: itemOf(vista, chave), resumo: resumoOf(textoOf(vista, valores)) };
}

/** A row as an entry has it, of which a statement returned {@link saidInSql}. */
export function folhaOfSaid(
  vista: Vista,
  said: readonly (string | null)[],
): { readonly item: string; readonly resumo: string } {
  const { chave, colunas } = AUDITADAS[vista] as Auditada;
  const valores = Object.fromEntries(colunas.map(({ nome }, place) => [nome, said[place]]));
  const key = chave.map((column) => String(valores[column]));
  return folhaOf(vista, key, valores);
}

/** A moment (milliseconds), as {@link folhaOf} takes it. */
export function momentText(instant: number): string {
  return `${instant}000`;
}

/** Leaf of a lawful deletion: one row, by its table and key, or all rows of a note, an event or a lot. */
export function apagada(
  of: Vista | 'nota' | 'evento' | 'lote',
  chave: readonly string[],
): { readonly item: string; readonly resumo: string } {
  const item = `-${JSON.stringify([of, ...chave])}`;
  return { item, resumo: resumoOf(`apagada\n${item}`) };
}

/** The family of a row of an entry, whose rows are deleted together. */
export function familiaOf(item: string): string {
  const [name, first] = JSON.parse(item.startsWith('-') ? item.slice(1) : item) as [string, string];
  const familia = name in AUDITADAS ? (AUDITADAS[name as Vista] as Auditada).familia : name;
  return familia === undefined ? item.replace(/^-/, '') : `${familia} ${first}`;
}
