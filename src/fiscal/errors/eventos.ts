/**
 * Codes of the national rules about events. The request of an event gets one of them if the events on the note exclude it. The national
 * environment returns the same codes, in `codigo_retorno` and `erros_adn` of the event.
 */
import { type CasoDeEvento, type Momento, pedidoDeEvento } from './caso-evento.ts';
import { aboutTheDocument, type Row } from './row.ts';

/** One kind of event that cannot follow certain others. */
function depoisDe(codigo: string, evento: string, significado: string, comoResolver: string): EventoRow {
  return {
    codigo,
    mensagem: `${evento} não cabe depois de um evento que a nota já tem`,
    significado,
    comoResolver,
    origem: `Anexo II, ${codigo}; decisão D-54`,
  };
}

type EventoRow = Omit<Row, 'status' | 'transitorio'>;

const MANIFESTACAO =
  'Consulte os eventos da nota. Numa nota cancelada, ou já confirmada tacitamente, não há o que manifestar; se a manifestação anterior está errada, procure a prefeitura.';

function postEvento(body: string): string {
  return `POST /integracao/api/v1/nfse/{chave_acesso}/eventos\nContent-Type: application/json\n\n${body}`;
}

/** `chega`, a type or a description of one, on a note that has `naNota`. */
function em(naNota: readonly Chega[], chega: Chega): Momento {
  return { naNota: naNota.map(registroOf), chega: registroOf(chega) };
}

type Chega = string | Momento['chega'];

function registroOf(one: Chega): Momento['chega'] {
  return typeof one === 'string' ? { tipo: one } : one;
}

const SOLICITACAO = 'solicitacao_analise_fiscal_para_cancelamento';
const DEFERIMENTO = 'cancelamento_deferido_por_analise_fiscal';
const INDEFERIMENTO = 'cancelamento_indeferido_por_analise_fiscal';
const BLOQUEIO = { tipo: 'bloqueio_por_oficio', bloqueia: 'cancelamento' };
const ANULACAO = { tipo: 'anulacao_rejeicao', aponta: { tipo: 'rejeicao_tomador' } };
const DESBLOQUEIO = { tipo: 'desbloqueio_por_oficio', aponta: { tipo: 'bloqueio_por_oficio' } };

/** A refused and an accepted case, by code. */
export const CASOS_DE_EVENTO: Readonly<Record<string, CasoDeEvento>> = {
  E0840: { recusado: em(['confirmacao_tomador'], 'cancelamento'), aceito: em([], 'cancelamento') },
  E0845: {
    recusado: em([SOLICITACAO], 'cancelamento_por_substituicao'),
    aceito: em(['confirmacao_tomador'], 'cancelamento_por_substituicao'),
  },
  E0848: { recusado: em(['confirmacao_tomador'], SOLICITACAO), aceito: em(['rejeicao_tomador'], SOLICITACAO) },
  E0852: { recusado: em([SOLICITACAO, INDEFERIMENTO], DEFERIMENTO), aceito: em([SOLICITACAO], DEFERIMENTO) },
  E0853: { recusado: em([], DEFERIMENTO), aceito: em([SOLICITACAO], DEFERIMENTO) },
  E0855: { recusado: em([SOLICITACAO, DEFERIMENTO], INDEFERIMENTO), aceito: em([SOLICITACAO], INDEFERIMENTO) },
  E0856: { recusado: em([], INDEFERIMENTO), aceito: em([SOLICITACAO], INDEFERIMENTO) },
  E0860: manifestacao('confirmacao_prestador'),
  E0861: manifestacao('confirmacao_tomador'),
  E0862: manifestacao('confirmacao_intermediario'),
  E0863: { recusado: em(['rejeicao_tomador'], 'confirmacao_tacita'), aceito: em([], 'confirmacao_tacita') },
  E0864: manifestacao('rejeicao_prestador'),
  E0866: manifestacao('rejeicao_tomador'),
  E0868: manifestacao('rejeicao_intermediario'),
  E0870: {
    recusado: em(['rejeicao_tomador', 'cancelamento'], ANULACAO),
    aceito: em(['rejeicao_tomador'], ANULACAO),
  },
  E1833: {
    recusado: em(['confirmacao_prestador'], { tipo: 'rejeicao_tomador', por: 'prestador' }),
    aceito: em(['confirmacao_prestador'], 'rejeicao_tomador'),
  },
  E1835: { recusado: em(['rejeicao_tomador', ANULACAO], ANULACAO), aceito: em(['rejeicao_tomador'], ANULACAO) },
  E1960: {
    recusado: em([SOLICITACAO], 'cancelamento_por_oficio'),
    aceito: em([SOLICITACAO, INDEFERIMENTO], 'cancelamento_por_oficio'),
  },
  E1963: { recusado: em(['rejeicao_prestador'], ANULACAO), aceito: em(['rejeicao_tomador'], ANULACAO) },
  E1965: { recusado: em(['cancelamento'], BLOQUEIO), aceito: em([], BLOQUEIO) },
  E1967: {
    recusado: em([BLOQUEIO], BLOQUEIO),
    aceito: em([BLOQUEIO], { tipo: 'bloqueio_por_oficio', bloqueia: 'cancelamento_por_substituicao' }),
  },
  E1970: { recusado: em([BLOQUEIO, 'cancelamento_por_oficio'], DESBLOQUEIO), aceito: em([BLOQUEIO], DESBLOQUEIO) },
  E1976: { recusado: em([], DESBLOQUEIO), aceito: em([BLOQUEIO], DESBLOQUEIO) },
  E1978: { recusado: em([BLOQUEIO, DESBLOQUEIO], DESBLOQUEIO), aceito: em([BLOQUEIO], DESBLOQUEIO) },
};

function manifestacao(tipo: string): CasoDeEvento {
  return { recusado: em(['confirmacao_tacita'], tipo), aceito: em([], tipo) };
}

const ROWS: readonly EventoRow[] = [
  {
    codigo: 'E0813',
    mensagem: 'O CNPJ do autor não é o da parte que registra este evento',
    significado:
      'Cada tipo de evento tem o seu autor: o prestador cancela, confirma ou rejeita a própria nota; o tomador e o intermediário confirmam ou rejeitam a que receberam. O CNPJ de cnpj_autor não é o dessa parte, ou a nota não tem essa parte identificada por CNPJ. Compara-se o CNPJ inteiro: outro estabelecimento da mesma empresa não é parte da nota, embora o certificado dele possa assinar.',
    comoResolver:
      'Retire cnpj_autor, e o serviço usa o documento da parte; ou registre o evento da parte certa: confirmacao_tomador do tomador, confirmacao_prestador do prestador.',
    origem: 'Anexo II, E0813; especificação, Events: autor inferido',
    pedidos: [
      {
        titulo: 'O prestador da nota é o CNPJ 11222333000181',
        recusado: postEvento('{ "tipo_evento": "confirmacao_prestador", "cnpj_autor": "11444777000161" }'),
        aceito: postEvento('{ "tipo_evento": "confirmacao_prestador" }'),
      },
    ],
  },
  {
    codigo: 'E0816',
    mensagem: 'O CPF do autor não é o da parte que registra este evento',
    significado:
      'O mesmo que o E0813, quando o autor vem em cpf_autor. Comparam-se os 11 dígitos. Também responde assim o evento de uma parte que a nota não tem.',
    comoResolver: 'Retire cpf_autor, e o serviço usa o documento da parte; ou registre o evento da parte certa.',
    origem: 'Anexo II, E0816; especificação, Events: autor inferido',
    pedidos: [
      {
        titulo: 'O tomador da nota é o CPF 52998224725',
        recusado: postEvento('{ "tipo_evento": "confirmacao_tomador", "cpf_autor": "11144477735" }'),
        aceito: postEvento('{ "tipo_evento": "confirmacao_tomador", "cpf_autor": "52998224725" }'),
      },
    ],
  },
  depoisDe(
    'E0840',
    'O cancelamento',
    'A nota tem um evento depois do qual ela não se cancela por este caminho: uma confirmação, uma solicitação de análise fiscal, o indeferimento dela, uma anulação de rejeição ou outro cancelamento; ou a prefeitura bloqueou o cancelamento. A mensagem diz qual.',
    'A mensagem diz o que a nota ainda aceita: em geral a substituição ou a solicitação de análise fiscal. Sem nenhum dos dois, a prefeitura pode cancelar por ofício.',
  ),
  depoisDe(
    'E0845',
    'O cancelamento por substituição',
    'A nota está cancelada, tem uma solicitação de análise fiscal ou o indeferimento dela, ou a prefeitura bloqueou a substituição.',
    'Com uma análise em andamento, espere a decisão. Indeferida a análise, ou com o bloqueio, procure a prefeitura.',
  ),
  depoisDe(
    'E0848',
    'A solicitação de análise fiscal para cancelamento',
    'A nota está cancelada, foi confirmada por uma das partes, ou já tem uma solicitação, pendente ou indeferida.',
    'Espere a decisão da solicitação que existe. Numa nota confirmada use a substituição, se couber, ou procure a prefeitura.',
  ),
  depoisDe(
    'E0852',
    'O deferimento da análise fiscal',
    'A nota está cancelada, foi confirmada por uma das partes, a solicitação já foi decidida, ou o deferimento está bloqueado. O evento é da prefeitura.',
    'Consulte os eventos da nota. Para cancelar sem a solicitação, a prefeitura usa o cancelamento por ofício.',
  ),
  {
    codigo: 'E0853',
    mensagem: 'Não há solicitação de análise fiscal para deferir',
    significado: 'O cancelamento só se defere quando a nota tem uma solicitação de análise fiscal à espera de decisão.',
    comoResolver:
      'O prestador registra antes solicitacao_analise_fiscal_para_cancelamento; sem ela, a prefeitura usa o cancelamento por ofício.',
    origem: 'Anexo II, E0853; decisão D-54',
  },
  depoisDe(
    'E0855',
    'O indeferimento da análise fiscal',
    'A nota está cancelada, foi confirmada por uma das partes, a solicitação já foi decidida, ou o indeferimento está bloqueado. O evento é da prefeitura.',
    'Consulte os eventos da nota: a decisão anterior vale.',
  ),
  {
    codigo: 'E0856',
    mensagem: 'Não há solicitação de análise fiscal para indeferir',
    significado: 'Só se indefere uma solicitação de análise fiscal que está à espera de decisão.',
    comoResolver: 'Confira a chave da nota; se ela não tem solicitação, não há o que indeferir.',
    origem: 'Anexo II, E0856; decisão D-54',
  },
  depoisDe(
    'E0860',
    'A confirmação do prestador',
    'A nota está cancelada, já foi confirmada pelo prestador, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0861',
    'A confirmação do tomador',
    'A nota está cancelada, já foi confirmada pelo tomador, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0862',
    'A confirmação do intermediário',
    'A nota está cancelada, já foi confirmada pelo intermediário, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0863',
    'A confirmação tácita',
    'A nota está cancelada ou uma das partes já se manifestou, e então não há silêncio a que dar efeito. O evento é da prefeitura.',
    'Consulte os eventos da nota: valem as manifestações que ela tem.',
  ),
  depoisDe(
    'E0864',
    'A rejeição do prestador',
    'A nota está cancelada, já foi rejeitada pelo prestador, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0866',
    'A rejeição do tomador',
    'A nota está cancelada, já foi rejeitada pelo tomador, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0868',
    'A rejeição do intermediário',
    'A nota está cancelada, já foi rejeitada pelo intermediário, ou tem confirmação tácita.',
    MANIFESTACAO,
  ),
  depoisDe(
    'E0870',
    'A anulação da rejeição',
    'A nota está cancelada, tem confirmação tácita, ou já tem uma anulação de rejeição. O evento é da prefeitura.',
    'Consulte os eventos da nota: uma nota tem no máximo uma anulação.',
  ),
  {
    codigo: 'E1310',
    mensagem: 'A nota indicada não é a substituta desta',
    significado:
      'Um cancelamento por substituição diz qual nota substitui a cancelada, e as duas têm de se apontar: chave_acesso_substituta é de uma nota deste município, autorizada ou à espera da autorização, cuja DPS traz em subst/chSubstda a chave da nota cancelada. A indicada não existe aqui, foi recusada ou cancelada, é a própria nota, não substitui nenhuma ou substitui outra; a mensagem diz qual dos casos.',
    comoResolver:
      'Emita primeiro a substituta, com o grupo subst e em subst/chSubstda a chave da nota que se cancela; depois registre o evento na nota antiga, com a chave da nova em chave_acesso_substituta.',
    origem: 'Anexo I, E1310; decisão D-54',
    nacional:
      'No padrão nacional E1310 recusa a nota substituta, quando o evento da nota substituída não traz a chave dela.',
    pedidos: [
      {
        titulo: 'A DPS da nota que chave_acesso_substituta indica',
        recusado: '<infDPS …>\n  …\n  <prest>…</prest>\n  …\n</infDPS>',
        aceito:
          '<infDPS …>\n  …\n  <subst>\n    <chSubstda>a chave da nota que o evento cancela</chSubstda>\n    <cMotivo>01</cMotivo>\n  </subst>\n  <prest>…</prest>\n  …\n</infDPS>',
      },
    ],
  },
  {
    codigo: 'E1831',
    mensagem: 'A nota foi recusada pelo ADN',
    significado:
      'O ADN recusou a nota, e ela não tem efeito: não há o que cancelar, confirmar nem rejeitar, nem DANFSe que imprimir. O protocolo da nota está rejeitado, e o motivo está na mensagem_retorno dele. Uma nota que ainda espera a autorização recebe eventos; eles seguem depois dela.',
    comoResolver:
      'Corrija o que o ADN recusou e emita de novo: a série e o número da DPS recusada estão livres. O evento se registra na nota nova, e dela é o DANFSe.',
    origem: 'Anexo II, E1831; decisões D-20 e D-52',
    nacional:
      'O ADN responde E1831 também enquanto não conhece a nota; o serviço não o repassa como recusa, e o evento fica em aguardando_autorizacao_nota.',
    pedidos: [
      {
        titulo: 'O mesmo evento, para duas notas',
        recusado: 'nota.status "rascunho", protocolo.status "rejeitado"',
        aceito: 'nota.status "autorizada", protocolo.status "autorizado"',
      },
    ],
  },
  {
    codigo: 'E1833',
    mensagem: 'Quem registra já se manifestou sobre a nota',
    significado:
      'São dois casos, e a mensagem diz qual. Quem está na nota em dois papéis, por exemplo o mesmo CNPJ como prestador e como intermediário, já a confirmou ou rejeitou num deles, e não se manifesta no outro. Ou a rejeição desta parte foi anulada pela prefeitura, e ela quer rejeitar a nota outra vez.',
    comoResolver:
      'No primeiro caso não há o que fazer: vale a manifestação que a nota já tem, e a consulta dos eventos a mostra. No segundo, a parte ainda pode confirmar a nota; para outra solução, procure a prefeitura.',
    origem: 'Anexo II, E1833; decisão D-54',
  },
  {
    codigo: 'E1835',
    mensagem: 'A rejeição já foi anulada',
    significado: 'Cada rejeição se anula uma vez, e a que id_evento_rejeicao aponta já foi. O evento é da prefeitura.',
    comoResolver: 'Confira o identificador; se é essa a rejeição, não há o que anular.',
    origem: 'Anexo II, E1835; decisão D-54',
  },
  depoisDe(
    'E1960',
    'O cancelamento por ofício',
    'A nota está cancelada, tem uma solicitação de análise fiscal sem decisão, ou o cancelamento por ofício está bloqueado. O evento é da prefeitura.',
    'Decida antes a solicitação, deferindo-a ou indeferindo-a, ou levante o bloqueio.',
  ),
  {
    codigo: 'E1963',
    mensagem: 'Não há na nota a rejeição que se quer anular',
    significado:
      'id_evento_rejeicao não é o identificador de uma rejeição processada desta nota, pelo prestador, pelo tomador ou pelo intermediário. O evento é da prefeitura.',
    comoResolver:
      'Consulte os eventos da nota e monte o identificador: EVT, a chave, o código do tipo (202205, 203206 ou 204207) e o número sequencial com 3 dígitos.',
    origem: 'Anexo II, E1963; decisão D-54',
  },
  depoisDe(
    'E1965',
    'O bloqueio por ofício',
    'A nota está cancelada, e não há registro que bloquear. O evento é da prefeitura.',
    'Confira a chave da nota.',
  ),
  {
    codigo: 'E1967',
    mensagem: 'Esse tipo de evento já está bloqueado na nota',
    significado:
      'A nota tem em vigor um bloqueio do mesmo tipo de evento. Bloqueios de tipos diferentes convivem. O evento é da prefeitura.',
    comoResolver: 'O bloqueio que existe basta. Para trocá-lo, registre antes o desbloqueio dele.',
    origem: 'Anexo II, E1967; decisão D-54',
  },
  depoisDe(
    'E1970',
    'O desbloqueio por ofício',
    'A nota está cancelada, e não há registro que desbloquear. O evento é da prefeitura.',
    'Confira a chave da nota.',
  ),
  {
    codigo: 'E1976',
    mensagem: 'Não há na nota o bloqueio que se quer levantar',
    significado:
      'id_evento_bloqueio não é o identificador de um bloqueio processado desta nota; ou ela tem mais de um em vigor, e o identificador, sem o número sequencial, não diz qual. Um bloqueio que ainda está a caminho do ADN não vale na nota: detalhes começa então com evento_em_andamento. O evento é da prefeitura.',
    comoResolver:
      'Se o bloqueio ainda está a caminho, espere que seja processado. Se não, consulte os eventos da nota e monte o identificador: EVT, a chave, 305102 e o número sequencial do bloqueio com 3 dígitos.',
    origem: 'Anexo II, E1976; decisão D-54',
  },
  {
    codigo: 'E1978',
    mensagem: 'O bloqueio já foi levantado',
    significado:
      'Um desbloqueio anterior já levantou o bloqueio que id_evento_bloqueio aponta. O evento é da prefeitura.',
    comoResolver: 'Não há o que desbloquear; se o tipo foi bloqueado de novo, use o identificador do novo bloqueio.',
    origem: 'Anexo II, E1978; decisão D-54',
  },
];

export const EVENTOS: readonly Row[] = aboutTheDocument(
  ROWS.map((row) => {
    const caso = CASOS_DE_EVENTO[row.codigo];
    return caso === undefined ? row : { ...row, pedidos: [pedidoDeEvento(caso)] };
  }),
);
