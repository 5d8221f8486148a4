/** Parses the text of a setting and formats its value, if that is more than the text itself. */
import { AMBIENTES, type Ambiente, GUARDA_MIN_DIAS } from './ambiente.ts';
import { readCor } from './cor.ts';
import { type Decimal, decimal, formatDecimal, parseDecimal } from './decimal.ts';
import { groupDigits } from './group-digits.ts';
import { ISS_MAX, ISS_MIN } from './iss.ts';

/** The error in the operator's text, in Portuguese; the sentence follows the name of the option. */
export type Problem = { readonly problems: readonly string[] };

export const problem = (text: string): Problem => ({ problems: [text] });

export const PRESET_OF_AMBIENTE = 'como no ambiente';

/** An XML namespace: an absolute address, of characters that need no escaping, within the length limit of the XML reader. */
export const NAMESPACE = /^[A-Za-z][\w+.-]*:[^\s<>&"']{1,120}$/;

export function chooseValue<Value>(written: string, choices: Readonly<Record<string, Value>>): Value | Problem {
  if (Object.hasOwn(choices, written)) return choices[written]!;
  return problem(`${written} não existe: use ${Object.keys(choices).join(' ou ')}.`);
}

/** The maximum of nine digits fits into the column. */
export function parseCount(written: string): number | Problem {
  if (/^\d{1,9}$/.test(written)) return Number(written);
  return problem(`pede um número inteiro de até 9 dígitos; veio "${written.slice(0, 40)}".`);
}

export function parseCor(written: string): string | Problem {
  return (
    readCor(written) ??
    problem(`pede uma cor de seis dígitos hexadecimais, como #1351b4; veio "${written.slice(0, 40)}".`)
  );
}

const GUARDA_MAX_DIAS = 36_500;

export function parseGuarda(written: string): number | Problem {
  const dias = parseCount(written);
  if (typeof dias !== 'number' || dias === 0 || (dias >= GUARDA_MIN_DIAS && dias <= GUARDA_MAX_DIAS)) return dias;
  return problem(
    `pede 0, que guarda sempre, ou de ${GUARDA_MIN_DIAS} a ${GUARDA_MAX_DIAS}: as respostas que se repetem sob uma chave falam das notas por mais de três dias.`,
  );
}

const ANY_PERCENT = decimal('999.99');

export function parseAliquota(written: string): Decimal | Problem {
  const text = readPercent(written, ANY_PERCENT);
  if (text === undefined) return problem(`${written} não é um percentual, com até duas casas decimais, como 5,00.`);
  const aliquota = decimal(text);
  if (aliquota > ISS_MAX) return problem(`${written} passa de 5 %, o máximo do ISSQN (LC 116/2003, art. 8º, II).`);
  if (aliquota >= ISS_MIN) return aliquota;
  return problem(
    `${written} fica abaixo de 2 %, o mínimo do ISSQN (LC 116/2003, art. 8º-A). As dos subitens 7.02, 7.05 e 16.01, que podem ser menores, vão na lista de serviços; 5 % se escreve 5.`,
  );
}

/** `5`, `5.00`, `5,00`, as `5.00`; undefined if it is no percentage up to the maximum. */
export function readPercent(written: string, highest: Decimal): string | undefined {
  const match = /^0*(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(written);
  if (match === null) return undefined;
  const aliquota = parseDecimal(`${match[1]}.${(match[2] ?? '').padEnd(2, '0')}`);
  return aliquota === undefined || aliquota > highest ? undefined : formatDecimal(aliquota);
}

/** The stored form of the address: without a trailing slash. */
export function parseAdnUrl(written: string): string | Problem {
  if (!URL.canParse(written)) {
    return problem(`${written} não é um endereço. Exemplo: https://adn.nfse.gov.br`);
  }
  const url = new URL(written);
  const problems = [
    url.protocol !== 'https:' && 'precisa começar por https://: o ADN só atende com certificados.',
    (url.username !== '' || url.password !== '') &&
      'não leva usuário nem senha: o município se identifica pelo certificado.',
    (url.search !== '' || url.hash !== '') && 'é só o endereço de base, sem ? nem #.',
  ].filter((one) => one !== false);
  return problems.length > 0 ? { problems } : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

export function limitesText(de: 'endereco' | 'prestador'): string {
  const [producao, homologacao] = [AMBIENTES.producao, AMBIENTES.homologacao].map(({ limites }) =>
    groupDigits(limites[de]),
  );
  return `${producao} em produção, ${homologacao} em homologação`;
}

export function limiteText(de: 'endereco' | 'prestador', own: number | undefined, ambiente: Ambiente): string {
  if (own === 0) return 'nenhum';
  const { limites } = AMBIENTES[ambiente];
  const limite = `${groupDigits(own ?? limites[de])} documentos por ${limites.janelaS === 60 ? 'minuto' : 'dia'}`;
  return own === undefined ? `${limite}, ${PRESET_OF_AMBIENTE}` : limite;
}
