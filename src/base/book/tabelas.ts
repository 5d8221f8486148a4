/**
 * All tables of the database, one row each, with all that the house must know of them: how the audit chain tells their rows, the month that
 * they are kept by, and their data of a person. `tabelas.test.ts` holds the rows to the catalogue (D-666, D-679). A row stays when its
 * subject goes (D-777).
 */
import { type ListaNome, type RegisterName, splitColumns } from '../../fiscal/registers.ts';
import { SETTINGS } from '../../fiscal/settings.ts';
import { NOTA_TYPES } from './nota-columns.ts';

/** The thing that a row belongs to and is deleted with; the first column of the key identifies it. */
export type Familia = 'nota' | 'evento' | 'lote';

/**
 * The act that may delete a row: none; the elimination of its month; or, for a register, an act that stands beside it in the chain. The
 * other rows need none. Tokens expire, owners withdraw addresses, and any later process deletes a draft of a file.
 */
export type Apagavel = 'nunca' | 'mes' | 'ato' | 'livre';

/** The entries of the audit chain about the rows of a table. */
type Corrente = {
  /** The place among all when a chain begins; a new table takes the next one. */
  readonly ordem: number;
  /** The primary key without the tenant. */
  readonly chave: string;
  /** The family that a row is deleted with, or the rule for its own deletion. */
  readonly sai: Familia | Apagavel;
  /**
   * True: rows never change once they are written. A second entry about such a row shows a foreign change, and the first entry counts. An
   * exception: the documents of a held note are written again on its release.
   */
  readonly isUmaVez?: true;
};

/** `colunas`: each is `name`, or `name:t` with the letter of its form. */
export type Contada = { readonly corrente: Corrente; readonly colunas: string };

/** A table with one partition a month. */
export type Mensal = {
  /** Storage options of a partition, which partitions do not inherit. */
  readonly storage?: string;
  /** Columns that are unique, or nearly, among the rows of a tenant. Each has its value in the row `i` of the month `mes`. */
  readonly keys: Readonly<Record<string, string>>;
  /** Columns by which a search finds its rows: they have full statistics, the keys brief ones, and all others none. */
  readonly procuradas?: readonly string[];
  /** Further mandatory columns, beside tenant and month. */
  readonly others?: Readonly<Record<string, string>>;
  /** The document columns in the file of an archived month; undefined: the rows stay in the database. */
  readonly documentos?: readonly string[];
};

/** The legal ground to keep data of a person, or the lack of one; a trail is also written by an erasure. */
type Base = 'fiscal' | 'cadastro' | 'trilha' | 'acesso' | 'auxiliar' | 'passageiro';

/** Data of a person in a table. */
export type Lugar = {
  readonly base: Base;
  readonly oQue: string;
  /** Condition on the rows `t` of a tenant ($1) that concern a CPF ($2). */
  readonly onde: string;
  /** Condition on those rows that may be erased in production, at a moment ($3). A rehearsal may erase all but the trail. */
  readonly apaga: string | undefined;
};

/**
 * Rows of a municipality are told by the audit chain, or the reason says why not; so do columns of told rows. The key of a table of the
 * installation has no tenant.
 */
export type Tabela = (
  | (Contada & {
      /** Columns that change while the others never do: told apart, under a name that ends in `_estado`. */
      readonly estado?: Contada;
      readonly semEntrada?: Readonly<Record<string, string>>;
      readonly mensal?: Mensal;
    })
  | { readonly corrente?: never; readonly semEntrada: string }
  | { readonly corrente?: never; readonly semEntrada?: never; readonly isDaInstalacao: true }
) & {
  /** The reason stands for a table without data of a person. */
  readonly pessoas: Lugar | string;
};

const SETTING_NAMES = SETTINGS.map(([, { column, sql }]) => (sql === 'boolean' ? `${column}:l` : column)).join(' ');
/** Columns that an issuance fills and a move may change. */
const MOVED: ReadonlySet<string> = new Set(['tabela_aliquotas', 'valor_ibs', 'valor_cbs']);
/** Columns that an issuance fills for good. */
const NOTA_NAMES = NOTA_TYPES.filter(([nome]) => !MOVED.has(nome))
  .map(([nome, sql]) => (sql === 'timestamptz' ? `${nome}:t` : sql === 'date' ? `${nome}:d` : nome))
  .join(' ');
/** The columns of a register, with a space between. */
function joinColumns(nome: RegisterName): string {
  const { key, told } = splitColumns(nome);
  return [...key, ...told].join(' ');
}

/** The columns of a list, which are told whole; an act stands beside the deletion of a line. */
function readLista(nome: ListaNome, ordem: number): Contada {
  const chave = [...splitColumns(nome).key, 'inicio'].join(' ');
  return { corrente: { ordem, chave, sai: 'ato' }, colunas: `${joinColumns(nome)} inicio:d fim:d` };
}

const MOVIMENTO = 'mes movimento em:t de gatilho para mensagem quem resposta';
const MOVIDO = { movimento: '1', em: 'now()', gatilho: "''", para: "''" };

const DAS_NOTAS = 'arquivos feitos das notas, guardados por alguns dias';
const DO_ADN = 'de onde se procura no ADN uma resposta perdida';
const CONTAGEM = 'contagem para um gráfico, que a queda de um processo perde';
const TENTATIVAS = 'o que houve com as últimas tentativas';
const DA_NFSE = 'segue da NFS-e, que a corrente conta inteira';
const SOMADO = 'somas das notas, que se refazem delas';
const PACOTE = 'com que se abre o pacote';

/** SQL: true when a text has a CPF, as bare digits or with points and a dash. */
const standsIn = (text: string, cpf = '$2'): string => {
  const digits = (from: number, many: number): string => `substr(${cpf}::text, ${from}, ${many})`;
  const written = `${digits(1, 3)} || '.' || ${digits(4, 3)} || '.' || ${digits(7, 3)} || '-' || ${digits(10, 2)}`;
  return `strpos(${text}, ${cpf}) > 0 or strpos(${text}, ${written}) > 0`;
};
const has = (...columns: readonly string[]): string =>
  columns.map((column) => standsIn(`coalesce(t.${column}::text, '')`)).join(' or ');
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
const OF_SUBSTITUICAO = `t.nota in (${IDS}) or substr(t.substituida, 10, 14) = ${PADDED}`;
const OF_RESPOSTA = `t.nota in (${IDS}) or ${has('avisos', 'recusa')}`;
const OF_REQUISICAO = `${has('caminho', 'resposta')} or position($2::bytea in coalesce(t.corpo, '')) > 0`;
const OF_ATO = has('quem', 'chave', 'motivo', 'antes', 'depois');
const ENDED = 't.expira_em < $3 or t.revogado_em is not null';
const NA_FILA = `(t.tipo = 'nota' and (t.mes, t.id) in (${NOTAS})) or (t.tipo = 'evento' and (t.mes, t.id) in (${EVENTOS}))
      or (t.tipo = 'lote' and t.id in (${LOTES}))`;
const OF_WEBHOOK = `t.documento = $2 or ${standsIn('t.url')} or ${standsIn("coalesce(t.descricao, '')")}`;
const WEBHOOKS = `select t.id from webhooks t where t.tenant = $1 and (${OF_WEBHOOK})`;
const OF_ENTREGA = `t.webhook in (${WEBHOOKS}) or t.nota in (${IDS}) or ${has('registro', 'mudanca')}`;
const ENTREGUE = `t.estado <> 'pendente' or t.webhook in (select w.id from webhooks w where w.tenant = $1 and not w.ativo)`;
const EXPORTACOES = `select e.id from exportacoes e where e.tenant = $1 and (e.documento = $2 or ${standsIn('e.pedida::text')})`;
const OF_EXPORTACAO = `t.id in (${EXPORTACOES})`;
const OF_PARTE = `t.exportacao in (${EXPORTACOES})`;
const FINISHED = "t.estado <> 'em_andamento'";
const EXPORTADA = "t.exportacao in (select e.id from exportacoes e where e.tenant = $1 and e.estado <> 'em_andamento')";
/** Accounts of a CPF: without a tenant it is $1, and the moment $2. */
const CONTAS = `select c.id from contas c where c.login = $1 or c.cpf_agente = $1 or ${standsIn("coalesce(c.oidc_sujeito, '')", '$1')} or ${standsIn('c.nome', '$1')}`;
/** Accounts that are blocked, or whose invitation has expired. */
const CLOSED = `select c.id from contas c where c.bloqueada_em is not null or (c.senha is null and c.oidc_sujeito is null
  and coalesce(c.convite_expira_em, '-infinity') < $2
  and not exists (select 1 from papeis r where r.conta = c.id and r.convite_expira_em >= $2))`;

const makeLugar = (base: Base, oQue: string, onde: string, apaga?: string): Lugar => ({ base, oQue, onde, apaga });
const makeAcesso = (oQue: string, conta = 'conta'): Lugar =>
  makeLugar('acesso', oQue, `t.${conta} in (${CONTAS})`, `t.${conta} in (${CLOSED})`);

/** Rows that depend on another row stand before it. */
export const TABELAS = {
  // Copies and indexes that the service made.
  ensaio_requisicoes: {
    semEntrada: 'últimas requisições de um ambiente de ensaio de terceiros',
    pessoas: makeLugar('auxiliar', 'últimas requisições a um ambiente de ensaio', OF_REQUISICAO, 'true'),
  },
  nomes: {
    semEntrada: 'palavras para a busca, refeitas das notas',
    pessoas: makeLugar('auxiliar', 'palavras dos nomes, para a busca do console', 't.documento = $2', 'true'),
  },
  exportacoes_partes: {
    semEntrada: DAS_NOTAS,
    pessoas: makeLugar('auxiliar', 'conteúdo de exportações de notas que a pessoa pediu', OF_PARTE, EXPORTADA),
  },
  exportacoes: {
    semEntrada: DAS_NOTAS,
    pessoas: makeLugar('auxiliar', 'exportações de notas que a pessoa pediu', OF_EXPORTACAO, FINISHED),
  },

  // Rights that a person asked for, and things that pass.
  tokens: {
    corrente: { ordem: 22, chave: 'id', sai: 'livre' },
    colunas: 'id documento impressao:b escopos criado_em:t expira_em:t revogado_em:t por pedido',
    pessoas: makeLugar('acesso', 'tokens com que consulta as suas notas', 't.documento = $2', ENDED),
  },
  entregas: {
    semEntrada: 'tentativas de avisar; o que se avisa está nos históricos',
    pessoas: makeLugar('acesso', 'avisos enviados aos seus endereços, ou das suas notas', OF_ENTREGA, ENTREGUE),
  },
  webhooks: {
    corrente: { ordem: 23, chave: 'id', sai: 'livre' },
    colunas: `id documento url tipos descricao segredo:b segredo_anterior:b anterior_ate:t ativo pendente:l criado_em:t`,
    semEntrada: {
      ...{ falhas: TENTATIVAS, problema: TENTATIVAS, problema_em: TENTATIVAS, rapido: TENTATIVAS },
      proxima: 'quando se tenta de novo',
      claims: 'quem o tem em mãos',
      alterado: 'se mudou enquanto alguém o tinha em mãos',
      reservado_ate: 'até quando alguém o tem em mãos',
    },
    pessoas: makeLugar('acesso', 'endereços que são avisados', OF_WEBHOOK, 'not t.ativo'),
  },
  idempotencia: {
    semEntrada: 'respostas guardadas por algumas horas para quem repete um pedido',
    pessoas: makeLugar('passageiro', 'respostas guardadas para requisições repetidas', OF_RESPOSTA),
  },
  mudancas_novas: {
    semEntrada: 'o que os históricos dizem, a caminho de quem acompanha',
    pessoas: makeLugar('passageiro', 'mudanças por contar', has('mudancas')),
  },
  mudancas: {
    semEntrada: 'o que os históricos dizem, para quem acompanha; esquecido depois de um prazo',
    pessoas: makeLugar('passageiro', 'mudanças das suas notas, para quem as segue', 't.documento = $2'),
  },

  // Lots, events and notes.
  fila: {
    semEntrada:
      'o que há a fazer: prazos, reservas e tentativas; o que falta nela a verificação acha pelo estado de notas, eventos e lotes',
    pessoas: makeLugar('fiscal', 'notas, eventos e lotes em andamento', NA_FILA),
  },
  retidas: {
    semEntrada: 'segue das notas retidas: a verificação compara linha por linha',
    pessoas: makeLugar('fiscal', 'notas que esperam uma alíquota', `t.nota in (${IDS})`),
  },
  notas_recusadas: {
    semEntrada: 'segue das notas, que dizem que foram recusadas e quando',
    pessoas: makeLugar('fiscal', 'notas recusadas depois de emitidas', `t.nota in (${IDS})`),
  },
  pendencias: {
    semEntrada: 'quem cuida do que espera pelo município: cada mudança está nos atos, que a corrente conta',
    pessoas: makeLugar(
      'fiscal',
      'quem cuida do que espera pelo município',
      `t.nota in (${IDS}) or ${has('responsavel', 'chave')}`,
    ),
  },
  trilha_eventos: {
    corrente: { ordem: 7, chave: 'evento mes movimento', sai: 'evento', isUmaVez: true },
    colunas: `evento ${MOVIMENTO}`,
    mensal: { keys: { evento: 'i' }, others: MOVIDO, documentos: [] },
    pessoas: makeLugar('fiscal', 'movimentos de eventos', `(t.mes, t.evento) in (${EVENTOS})`),
  },
  documentos_eventos: {
    corrente: { ordem: 6, chave: 'evento mes', sai: 'evento', isUmaVez: true },
    colunas: 'evento mes recebido:b recebido_assinatura confianca xml:b',
    mensal: { keys: { evento: 'i' }, others: { xml: "''" }, documentos: ['recebido', 'xml'] },
    pessoas: makeLugar('fiscal', 'eventos, como chegaram', `(t.mes, t.evento) in (${EVENTOS})`),
  },
  documentos_lotes: {
    corrente: { ordem: 9, chave: 'lote mes', sai: 'lote', isUmaVez: true },
    colunas: 'lote mes recebido:b confianca',
    mensal: { keys: { lote: 'i' }, others: { recebido: "''" }, documentos: ['recebido'] },
    pessoas: makeLugar('fiscal', 'lotes de RPS, como chegaram', `t.lote in (${LOTES})`),
  },
  lotes_rps: {
    corrente: { ordem: 10, chave: 'lote ordem', sai: 'lote' },
    colunas: 'lote ordem prestador serie numero tipo nota mes_nota guardado',
    pessoas: makeLugar('fiscal', 'RPS de lotes', `t.lote in (${LOTES})`),
  },
  lotes: {
    corrente: { ordem: 8, chave: 'id', sai: 'lote' },
    colunas: `id mes protocolo prestador numero_lote impressao:b situacao aberto recebido_em:t processado_em:t mensagens simular refeito`,
    semEntrada: { requisicao: 'de que requisição veio, para quem procura; a nota dele a conta' },
    pessoas: makeLugar('fiscal', 'lotes de RPS', OF_LOTE),
  },
  eventos: {
    corrente: { ordem: 5, chave: 'id', sai: 'evento' },
    colunas: `id mes nota mes_nota ordem codigo_tipo_evento numero_sequencial cancela estado aberto desde:t movimentos
      reprocessamentos_count ultimo_reprocessamento_em:t aguardando_desde:t criado_em:t processado_em:t codigo_retorno
      mensagem_retorno erros_adn autor campos simular nsu_antes nsu_recepcao assinatura:b certificado:b arquivado_em:t entre_partes`,
    pessoas: makeLugar('fiscal', 'eventos que pediu, ou em notas suas', OF_EVENTO),
  },
  trilha_notas: {
    corrente: { ordem: 4, chave: 'nota mes movimento', sai: 'nota', isUmaVez: true },
    colunas: `nota ${MOVIMENTO}`,
    mensal: { keys: { nota: 'i' }, others: MOVIDO, documentos: [] },
    pessoas: makeLugar('fiscal', 'movimentos de notas', `(t.mes, t.nota) in (${NOTAS})`),
  },
  /** Documents are told by their content, independent of their storage form. */
  documentos: {
    corrente: { ordem: 3, chave: 'nota mes', sai: 'nota', isUmaVez: true },
    colunas: 'nota mes recebido:b nfse:b recebido_assinatura confianca',
    semEntrada: {
      pacote: 'o mesmo conteúdo comprimido: a verificação o abre e compara',
      ...{ dicionario: PACOTE, certificado: PACOTE },
      partes: 'segue da nota: a verificação o refaz',
    },
    mensal: {
      // Documents of less than a page stay in their row. Out of line they would be pieces of 2 kB, each with a row and an index entry. A
      // compressed row frees a page. Vacuum must reclaim it before a fifth of all rows are compressed, the default threshold.
      storage: 'toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.01',
      keys: { nota: 'i' },
      others: { recebido: "''", nfse: "''" },
      documentos: ['recebido', 'nfse', 'pacote'],
    },
    pessoas: makeLugar('fiscal', 'declarações e NFS-e, inteiras', `(t.mes, t.nota) in (${NOTAS})`),
  },
  receita_somas: {
    semEntrada: SOMADO,
    pessoas: makeLugar(
      'fiscal',
      'somas do mês das notas, por prestador e por tomador',
      "t.por in ('prestador', 'tomador') and t.chave = $2",
    ),
  },
  identidades: {
    semEntrada: 'segue das notas: a verificação compara linha por linha',
    pessoas: makeLugar('fiscal', 'identificadores das DPS', `t.nota in (${IDS}) or strpos(t.id_dps, ${PADDED}) > 0`),
  },
  substituicoes: {
    semEntrada: 'segue das notas que substituem outra: a verificação compara linha por linha',
    pessoas: makeLugar('fiscal', 'notas que substituem outras', OF_SUBSTITUICAO),
  },
  notas: {
    corrente: { ordem: 1, chave: 'id mes', sai: 'nota', isUmaVez: true },
    colunas: `id mes numero_dps prestador_cpf_cnpj ${NOTA_NAMES}`,
    estado: {
      corrente: { ordem: 2, chave: 'id mes', sai: 'nota' },
      colunas: `id mes estado movimentos data_autorizacao:t data_cancelamento:t mensagem_retorno tabela_aliquotas nsu_recepcao
      assinatura:b certificado:b`,
    },
    semEntrada: { nsu_antes: DO_ADN, ...{ valor_ibs: DA_NFSE, valor_cbs: DA_NFSE } },
    mensal: {
      // A move finds room for the new row version in the same page, so that no index is written.
      storage: 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05',
      keys: { id: 'i', chave_acesso: "lpad(i::text, 36, '0') || mes % 10000", numero_protocolo: 'mes::text || i' },
      procuradas: [
        ...['prestador_cpf_cnpj', 'tomador_cpf_cnpj', 'intermediario_cpf_cnpj', 'estado', 'data_emissao'],
        ...['data_competencia', 'serie_dps', 'numero_dps', 'servico', 'classe_issqn', 'regime', 'aliquota_issqn'],
        'valor_servico',
      ],
      others: {
        ...{ id_dps: 'i', numero_dps: 'i', numero_dps_nacional: 'i', serie_dps: "''", estado: "'emitida'" },
        ...{ data_emissao: 'now()', data_competencia: 'now()', valor_servico: '0' },
        ...{ prestador_cpf_cnpj: "''", prestador_razao_social: "''" },
      },
    },
    pessoas: makeLugar('fiscal', 'notas em que é prestador, tomador ou intermediário', OF_NOTA.replaceAll('n.', 't.')),
  },
  numeracao: {
    semEntrada: 'segue das notas: o último número é o da última nota do prestador',
    pessoas: makeLugar('fiscal', 'o último número de NFS-e', 't.prestador = $2'),
  },
  numeracao_dps: {
    semEntrada: 'de onde se procura o próximo número livre; o que está em uso o banco recusa',
    pessoas: makeLugar('fiscal', 'o próximo número de uma série', `strpos(t.serie, ${PADDED}) > 0`),
  },

  // Registers.
  prestadores: {
    corrente: { ordem: 12, chave: 'documento inscricao_comparavel', sai: 'ato' },
    colunas: `${joinColumns('prestadores')} origem criado_em:t`,
    semEntrada: { inscricao_comparavel: 'o banco a faz da inscrição' },
    pessoas: makeLugar('cadastro', 'cadastro de prestadores, com endereço e contato', 't.documento = $2'),
  },
  simples_nacional: {
    corrente: { ordem: 13, chave: 'documento inicio', sai: 'ato' },
    colunas: 'documento inicio:d fim:d',
    pessoas: makeLugar('cadastro', 'períodos no Simples Nacional', 't.documento = $2'),
  },
  beneficios_municipais: {
    ...readLista('beneficios', 15),
    pessoas: makeLugar('cadastro', 'benefícios concedidos', '$2 = any (t.documentos)'),
  },
  regimes_especiais: {
    ...readLista('regimes', 17),
    pessoas: makeLugar('cadastro', 'regimes especiais', 't.documento = $2'),
  },
  nao_incidencias: {
    ...readLista('nao_incidencias', 18),
    pessoas: makeLugar('cadastro', 'não incidências', 't.documento = $2'),
  },
  importacoes: {
    corrente: { ordem: 21, chave: 'id', sai: 'livre' },
    colunas: 'id em:t registro ordem arquivo quem via desfeita_em:t',
    pessoas: makeLugar('cadastro', 'nomes de arquivos importados', has('arquivo')),
  },
  mudancas_importadas: {
    semEntrada: 'com que se desfaz a última importação; o que ela e o desfazer gravam está nas entradas',
    pessoas: makeLugar(
      'cadastro',
      'linhas de cadastros antes e depois de uma importação',
      has('chave', 'antes', 'depois'),
    ),
  },
  servicos_municipais: {
    ...readLista('servicos', 14),
    pessoas: 'serviços',
  },
  deducoes_admitidas: {
    ...readLista('deducoes', 16),
    pessoas: 'códigos de serviços',
  },
  correlacoes_legadas: {
    corrente: { ordem: 19, chave: 'item codigo_municipal', sai: 'ato' },
    colunas: joinColumns('correlacao'),
    pessoas: 'códigos de serviços',
  },

  // Proofs and the trail.
  certificados: {
    semEntrada:
      'a chave é o SHA-256 do conteúdo, e a verificação o recalcula; o que notas e eventos nomeiam tem de estar lá',
    pessoas: makeLugar('fiscal', 'certificados que assinaram documentos', 'position($2::bytea in t.der) > 0'),
  },
  listas_revogados: {
    semEntrada:
      'a chave é o SHA-256 do conteúdo, e a verificação o recalcula; o que fundamentos nomeiam tem de estar lá',
    pessoas: 'listas públicas de certificados revogados',
  },
  fundamentos: {
    corrente: { ordem: 25, chave: 'id', sai: 'mes', isUmaVez: true },
    colunas: 'id impressao:b em:t cadeia listas',
    pessoas: 'autoridades certificadoras',
  },
  retencoes: {
    corrente: { ordem: 26, chave: 'mes', sai: 'ato' },
    colunas: 'mes motivo quem desde:t',
    pessoas: makeLugar('trilha', 'meses retidos, pelo motivo', has('motivo', 'quem')),
  },
  auditoria: {
    semEntrada: 'é a própria corrente',
    pessoas: makeLugar('trilha', 'corrente de auditoria, pelas chaves do que se gravou', has('itens', 'sobre')),
  },
  atos: {
    corrente: { ordem: 20, chave: 'em id', sai: 'nunca', isUmaVez: true },
    colunas: 'em:t id quem via objeto chave acao motivo antes depois',
    pessoas: makeLugar('trilha', 'atos feitos à mão, por ela ou sobre ela', OF_ATO),
  },
  auditoria_ate: {
    semEntrada: 'o fim da corrente, que a verificação compara; e quando se verificou',
    pessoas: 'o fim da corrente de auditoria',
  },
  auditoria_selos: {
    corrente: { ordem: 27, chave: 'dia', sai: 'nunca', isUmaVez: true },
    colunas: 'dia:d lugar texto assinatura:b em:t',
    pessoas: 'selos do município sobre a corrente',
  },
  arquivos: {
    corrente: { ordem: 24, chave: 'mes geracao', sai: 'livre' },
    colunas: `mes geracao nome bytes sha256:b anterior:b certificado:b linhas criado_em:t pronto_em:t trazido_em:t fundamentos`,
    pessoas: 'nomes e resumos de arquivos',
  },

  // The municipality, and tables without records: their loss harms nobody.
  brasoes: {
    semEntrada: 'uma imagem pública; o seu SHA-256 está na linha do município, que a corrente conta',
    pessoas: 'brasões de municípios',
  },
  municipios: {
    corrente: { ordem: 11, chave: 'tenant', sai: 'nunca' },
    colunas: `criado_em:t ensaio_ate:t relogio_ms:0 exige_cadastro:l aliquotas_ibs_cbs brasao ${SETTING_NAMES}`,
    pessoas: 'configuração do município',
  },
  ensaios: {
    semEntrada: 'ambientes de ensaio de terceiros, que acabam sozinhos',
    pessoas: 'ambientes de ensaio, por chaves',
  },
  sequencias: {
    semEntrada: 'números que podem ter falhas; repetido, o banco o recusa pela chave',
    pessoas: 'números',
  },
  recepcoes_adn: { semEntrada: DO_ADN, pessoas: 'números de recepção' },
  documentos_comprimidos: { semEntrada: 'até onde se comprimiu', pessoas: 'até que nota se comprimiu' },
  transmissoes: { semEntrada: 'o que o operador vê de um problema que passa', pessoas: 'estado da transmissão' },
  circuitos: { semEntrada: 'se o ADN responde, visto há pouco', pessoas: 'estado da conexão ao ADN' },
  emissoes: { semEntrada: CONTAGEM, pessoas: 'contagens' },
  recusas: { semEntrada: CONTAGEM, pessoas: 'contagens' },
  nomes_lidos: { semEntrada: 'até onde a busca leu', pessoas: 'até que nota se leu' },
  receita_novas: { semEntrada: SOMADO, pessoas: 'números de notas' },
  receita_meses: { semEntrada: SOMADO, pessoas: 'meses' },
  meses_fechados: { semEntrada: SOMADO, pessoas: 'somas de um mês' },
  exportacoes_do_console: {
    semEntrada: 'pedidos de uma hora, feitos no console',
    pessoas: 'buscas de quem trabalha na prefeitura, até a exportação seguinte',
  },
  receita_ate: { semEntrada: SOMADO, pessoas: 'até quando se somou' },
  mudancas_ate: { semEntrada: 'até onde se contou a quem acompanha', pessoas: 'números' },
  migracoes_andamento: { semEntrada: 'até onde foi uma migração', pessoas: 'versões do banco' },

  // The installation.
  sessoes: { isDaInstalacao: true, pessoas: makeAcesso('sessões do console') },
  passkeys: { isDaInstalacao: true, pessoas: makeAcesso('chaves com que entra no console') },
  papeis: { isDaInstalacao: true, pessoas: makeAcesso('papéis no console') },
  contas: { isDaInstalacao: true, pessoas: makeAcesso('conta no console', 'id') },
  aliquotas_ibs_cbs: { isDaInstalacao: true, pessoas: 'lei' },
  tabelas_aliquotas: { isDaInstalacao: true, pessoas: 'lei' },
  // A code follows from its municipality, and the key allows one in production.
  codigos_em_producao: { isDaInstalacao: true, pessoas: 'códigos de municípios' },
  contagens: { isDaInstalacao: true, pessoas: 'endereços de rede, por um minuto' },
  meses: { isDaInstalacao: true, pessoas: 'meses' },
  migracoes: { isDaInstalacao: true, pessoas: 'versões do banco' },
} as const satisfies Readonly<Record<string, Tabela>>;
