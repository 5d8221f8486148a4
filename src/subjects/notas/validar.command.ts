/**
 * `nfse validar`: the dry run at a terminal. The program judges the file here with the facts of the sandbox. It asks the service when a
 * municipality is given: the service knows that municipality's registry, rates and anchors. Both print the same.
 */
import { Recusado } from '../../../packages/cliente/src/index.ts';
import { refuseTrouble } from '../../base/http/refusals.ts';
import { askedWrongly, type Command, type Terminal, type Values } from '../../base/terminal/command.ts';
import {
  type Asked,
  checkOptions,
  explainSilence,
  readCheck,
  type SentFile,
  signatureOf,
} from '../../base/terminal/follow.ts';
import { columns, type FaultText, faultLines, jsonText } from '../../base/terminal/text.ts';
import { BRASILIA, momentIn } from '../../fiscal/moment.ts';
import { BODY_MAX_BYTES } from '../../published/http-limits.ts';
import { presentValidated } from './validacao.rest.ts';
import { type Passo, validateDocument } from './validate.ts';

export const VALIDAR: Command = {
  name: 'validar',
  arguments: 'ARQUIVO',
  summary: 'Confere uma DPS, em XML ou JSON, sem emitir nada: todos os erros, ou os valores e cada passo do cálculo.',
  options: {
    ...checkOptions('o cadastro, as alíquotas e a confiança', 'como no ambiente de integração'),
    json: { help: 'escreve a resposta em JSON, como o serviço a dá' },
  },
  run: (terminal, values, [file]) => validar(terminal, values, file!),
};

type Accepted = Omit<ReturnType<typeof presentValidated>, 'calculo'> & {
  readonly status: 'OK';
  readonly calculo: readonly Passo[];
  readonly avisos: readonly { readonly codigo: string; readonly xpath: string; readonly mensagem: string }[];
};
type Amounts = Pick<Accepted, 'municipio_incidencia' | 'valores' | 'ibscbs' | 'calculo' | 'avisos'>;
/** A refusal in production may carry the amounts that the document itself leads to. */
type Refused = Partial<Amounts> & { readonly erros: readonly FaultText[]; readonly nao_conferido?: readonly string[] };
type Answer = Accepted | Refused;

/** Exit code 0: it would be issued; 1: it would be refused, or the result is unknown; 2: wrong usage. */
async function validar(terminal: Terminal, values: Values, file: string): Promise<number> {
  const check = await readCheck(terminal, values, file);
  if (typeof check === 'string') return askedWrongly(terminal, check);
  const { sent, service } = check;
  const answer = service === undefined ? judgeHere(sent) : await askService(service, sent);
  const isRefused = 'erros' in answer;
  if (values['json'] === true) terminal.out(jsonText(answer));
  else if (isRefused) terminal.err(describeRefused(answer));
  else
    terminal.out(
      describeAccepted(answer, service === undefined ? 'no ambiente de integração' : `em ${service.municipio}`),
    );
  return isRefused ? 1 : 0;
}

function judgeHere(sent: SentFile): Answer {
  // The service would not read a longer body.
  if (sent.body.length > BODY_MAX_BYTES) return { erros: refuseTrouble('body_too_large', undefined).refusal.faults };
  const validated = validateDocument(sent, momentIn(BRASILIA, Date.now()).date);
  return 'faults' in validated
    ? { erros: validated.faults }
    : { status: 'OK', ...presentValidated(validated), avisos: validated.avisos };
}

async function askService({ cliente, base }: Asked, sent: SentFile): Promise<Answer> {
  try {
    return (await cliente.validarDps(sent.body, signatureOf(sent))) as Answer;
  } catch (error) {
    if (error instanceof Recusado && error.envelope !== undefined) return error.envelope;
    throw explainSilence(error, base);
  }
}

function describeRefused(refused: Refused): string {
  const { erros, nao_conferido = [] } = refused;
  const { length } = erros;
  const title = length === 1 ? 'Há 1 erro' : `Há ${length} erros`;
  const sections = [
    `${title}:\n${faultLines(erros)}`,
    ...(hasAmounts(refused) ? ['O que a DPS diz daria estes valores:', ...describeAmounts(refused, [])] : []),
    nao_conferido.join('\n'),
    `nfse explicar ${erros[0]!.codigo} diz mais.`,
  ];
  return `${sections.filter((one) => one !== '').join('\n\n')}\n`;
}

function hasAmounts(refused: Refused): refused is Refused & Amounts {
  return refused.valores !== undefined;
}

function describeAccepted(answer: Accepted, where: string): string {
  const identificador = ['identificador_dps', answer.identificador_dps ?? 'o serviço dará o número'] as const;
  const sections = [`A DPS seria aceita ${where}. Nada foi emitido.`, ...describeAmounts(answer, [identificador])];
  return `${sections.join('\n\n')}\n`;
}

type Row = readonly [string, string];

function describeAmounts(
  { municipio_incidencia: place, valores, ibscbs, calculo, avisos }: Amounts,
  before: readonly Row[],
): readonly string[] {
  const incidencia: Row = [
    'municipio_incidencia',
    place === null ? 'nenhum' : `${place.codigo} ${place.nome}/${place.uf}`,
  ];
  return [
    columns([...before, incidencia, ...amountRows(valores)]).join('\n'),
    ...(ibscbs === null ? [] : [`IBS e CBS, o cálculo oficial:\n${columns(amountRows(ibscbs)).join('\n')}`]),
    `Cálculo, passo a passo:\n${stepLines(calculo).join('\n')}`,
    ...(avisos.length === 0 ? [] : [`${avisos.length === 1 ? 'Aviso' : 'Avisos'}:\n${faultLines(avisos)}`]),
  ];
}

function amountRows(amounts: Readonly<Record<string, string | null>>): readonly Row[] {
  const width = Math.max(...Object.values(amounts).map((value) => value?.length ?? 0));
  return Object.entries(amounts).map(([name, value]) => [name, value?.padStart(width) ?? 'não consta da nota']);
}

const NO_AMOUNT = '–';

/** Field (with its name in a JSON body), amount and formula of each step, in columns. */
function stepLines(calculo: readonly Passo[]): readonly string[] {
  const amounts = calculo.map(({ valor }) => valor ?? NO_AMOUNT);
  const width = Math.max(...amounts.map(({ length }) => length));
  return columns(
    calculo.map(({ campo, campo_json, formula }, place) => [
      campo_json === undefined ? campo : `${campo} (${campo_json})`,
      `${amounts[place]!.padStart(width)}  ${formula}`,
    ]),
  );
}
