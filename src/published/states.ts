/** `docs/estados.md`: the states of a nota and of an event, each machine as a drawing and two tables. */
import {
  type AcaoSugerida,
  DESFECHOS_EVENTO,
  EVENTO_ESTADOS,
  EVENTO_MOVES,
  EVENTO_RETRIES_MAX,
  type EventoEstado,
  type EventoTrigger,
  eventoRests,
} from '../fiscal/evento.ts';
import type { Due, Move } from '../fiscal/machine.ts';
import { CODIGOS_SITUACAO, NOTA_ESTADOS, NOTA_MOVES, type NotaEstado, type NotaTrigger } from '../fiscal/nota.ts';
import { TIPOS_EVENTO } from '../fiscal/tipos-evento.ts';
import { code, nameTable, table } from './markdown.ts';

/** The due time of the row after a move, in words. */
const DUE: Readonly<Record<Due, string>> = {
  now: 'de imediato',
  lease: 'se o envio não se concluir no prazo',
  backoff: 'depois de um intervalo, cada vez maior',
  poll: 'de tempos em tempos, se nada a acordar antes',
  publicacao: 'quando se importam alíquotas',
  never: 'não volta',
};

/** The triggers of the moves of a nota, in words. */
export const NOTA_TRIGGERS: Readonly<Record<NotaTrigger, string>> = {
  emissao: 'a DPS foi aceita',
  retencao: 'a DPS foi aceita, e falta publicar uma alíquota do IBS ou da CBS da competência',
  publicacao: 'a alíquota que faltava foi importada; a nota ganha o IBS e a CBS calculados',
  divergencia: 'a alíquota que faltava foi importada, e os valores declarados de IBS e CBS divergem do cálculo oficial',
  anuncio: 'o envio ao ADN vai começar',
  autorizacao: 'o ADN autorizou, ou já a conhecia',
  recusa: 'o ADN recusou',
  adiamento: 'o ADN não respondeu, ou não se soube o que respondeu',
  espera: 'a nota substitui outra que ainda está em vigor, ou o ADN disse que é cedo (E1308)',
  cancelamento: 'um evento de cancelamento foi processado',
  retirada: 'o município retira uma substituta que não foi transmitida, e cujo evento não virá',
};

const ESTADOS = Object.keys(NOTA_ESTADOS) as NotaEstado[];

/** The triggers of the moves of an event, in words. */
export const EVENTO_TRIGGERS: Readonly<Record<EventoTrigger, string>> = {
  registro: 'o pedido foi aceito',
  anuncio: 'o envio ao ADN vai começar',
  nota_nao_autorizada: 'a nota ainda não está autorizada aqui; nada é enviado',
  nota_desconhecida: 'o ADN ainda não reconhece a nota (E1831)',
  autorizacao_nota: 'a nota foi autorizada',
  recusa_nota: 'a nota foi recusada, ou retirada',
  conclusao: 'o ADN registrou o evento, ou já o tinha',
  recusa: 'o ADN recusou o evento',
  falha: 'o envio deste evento falhou, e ele ainda tem tentativas',
  esgotamento: 'o envio deste evento falhou, e as tentativas acabaram',
  adiamento: 'o ADN está fora de alcance para todos; não conta como tentativa',
  incompreensao: 'a resposta do ADN não pôde ser entendida',
  reprocessamento: 'o município manda tentar de novo; antes se pergunta ao ADN',
  separacao: 'o município separa o evento para análise',
  retirada: 'o município retira o evento antes do envio',
  dispensa: 'o município dispensa o envio, ou o ADN não recebe o tipo de um município (E1818)',
  arquivamento: 'o município deu a recusa por vista; só a lista de problemas muda',
};

/** The occasion of each suggested action, in words. */
export const ACOES: Readonly<Record<AcaoSugerida, string>> = {
  aguardar:
    '`pendente` há até 5 minutos; `enviado`; `aguardando_autorizacao_nota` há até 24 horas, contadas de `aguardando_desde`',
  retentar: '`erro` com nova tentativa marcada; o serviço a faz sozinho',
  consultar_suporte:
    '`pendente` há mais de 5 minutos; `aguardando_autorizacao_nota` há mais de 24 horas; `erro` sem mais tentativas; `erro_reprocessamento`; `rejeitado`, cujo motivo está em `erros_adn`',
  cancelado_ok: '`processado`, `cancelado` ou `dispensado`: não há mais o que fazer',
};

/** `codigo_situacao_nfse` from the authorisation on. */
const SITUACAO = `\`${CODIGOS_SITUACAO.gerada}\`; de um MEI, \`${CODIGOS_SITUACAO.mei}\``;

const EVENTO_ORDER = Object.keys(EVENTO_ESTADOS) as EventoEstado[];

export function statesMarkdown(): string {
  return `<!-- Gerado por scripts/generate.ts a partir da máquina de estados; não edite. -->

# Estados

## Nota

Quem integra vê \`nota.status\`, \`protocolo.status\` e \`chave_acesso_provisoria\`; o estado é o que o serviço guarda, e dele
saem os três. A chave de acesso não muda em nenhum deles.

\`\`\`mermaid
stateDiagram-v2
${drawMachine(ESTADOS, NOTA_MOVES)}
\`\`\`

${table(
  [
    'Estado',
    'Significado',
    '`nota.status`',
    '`protocolo.status`',
    '`chave_acesso_provisoria`',
    '`codigo_situacao_nfse`',
    '`protocolo.acao_sugerida`',
  ],
  ESTADOS.map((estado) => {
    const { significado, status, protocolo, chave_acesso_provisoria, acao_sugerida } = NOTA_ESTADOS[estado];
    const [shownStatus, shownProtocolo, provisoria, acao] = [
      status,
      protocolo,
      chave_acesso_provisoria,
      acao_sugerida,
    ].map((value) => code(String(value)));
    const situacao = chave_acesso_provisoria ? code('null') : SITUACAO;
    return [code(estado), significado, shownStatus!, shownProtocolo!, provisoria!, situacao, acao!];
  }),
)}

Repousam, até que algo de fora os mova: ${ESTADOS.filter((estado) => NOTA_ESTADOS[estado].rests)
    .map(code)
    .join(', ')}. Ocupam série
e número da DPS (E0014): ${ESTADOS.filter((estado) => NOTA_ESTADOS[estado].holdsDps)
    .map(code)
    .join(', ')}.

### Passagens

${movesTable(NOTA_MOVES, NOTA_TRIGGERS)}

${eventoMarkdown()}`;
}

function eventoMarkdown(): string {
  const cancelling = TIPOS_EVENTO.filter(({ cancela }) => cancela).map(({ slug }) => slug);
  return `## Evento

Quem integra vê o estado em \`status_evento\`, em \`acao_sugerida\` o que fazer e em \`desfecho\` o que foi feito dele. Um evento que o ADN registra torna a nota
\`cancelada\` quando é ${cancelling.map(code).join(', ')}; antes disso, e com qualquer outro, ela fica como está.

\`\`\`mermaid
stateDiagram-v2
${drawMachine(EVENTO_ORDER, EVENTO_MOVES)}
\`\`\`

${table(
  ['`status_evento`', 'Significado', 'Repousa'],
  EVENTO_ORDER.map((estado) => {
    const { significado } = EVENTO_ESTADOS[estado];
    const rests = eventoRests(estado, true) ? 'sim' : 'não';
    return [code(estado), significado, estado === 'erro' ? 'quando as tentativas acabam' : rests];
  }),
)}

### Passagens

${movesTable(EVENTO_MOVES, EVENTO_TRIGGERS)}

Um evento tem até ${EVENTO_RETRIES_MAX} novas tentativas automáticas, e o reprocessamento pelo município não as devolve.

### O que fazer

${nameTable(['`acao_sugerida`', 'Quando'], ACOES)}

### O que foi feito dele

${nameTable(['`desfecho`', 'Significado'], DESFECHOS_EVENTO)}
`;
}

type Arrow<On extends string> = Move<string, On> & { readonly counts?: boolean };

function movesTable<On extends string>(moves: readonly Arrow<On>[], triggers: Readonly<Record<On, string>>): string {
  return table(
    ['De', 'Gatilho', 'Quando', 'Para', 'Volta à fila'],
    moves.map(({ from, on, to, due, counts }) => {
      const when = counts ? `${triggers[on]}, outra vez; \`reprocessamentos_count\` cresce` : triggers[on];
      return [from === undefined ? '' : code(from), code(on), when, code(to), DUE[due]];
    }),
  );
}

/** The arrows of a machine. A state that no move leaves has an arrow to the end. */
function drawMachine(estados: readonly string[], moves: readonly Move[]): string {
  const arrows = moves.map(({ from, on, to }) => `  ${from ?? '[*]'} --> ${to}: ${on}`);
  const last = estados.filter((estado) => !moves.some(({ from, to }) => from === estado && to !== estado));
  return [...arrows, ...last.map((estado) => `  ${estado} --> [*]`)].join('\n');
}
