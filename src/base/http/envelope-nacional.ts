/**
 * Refusals in the shape of the national API, for addresses of its contract. Programs read `erros`, `erro` or neither, and names with or
 * without a capital; an answer has all of them, and our own fields beside.
 */
import { AMBIENTES, type Ambiente } from '../../fiscal/ambiente.ts';
import { VER_APLIC } from '../../fiscal/compose-nfse.ts';
import { type Aviso, limitFaults, type Refusal } from '../../fiscal/fault.ts';
import { type Fields, field, orAbsent } from '../../published/openapi/field.ts';
import { NACIONAL_PATH, PARAMETROS_PATH } from '../../published/paths.ts';
import { avisosOf, ENVELOPE_SHAPES, errosOf } from './envelope.ts';

/** Whether an address belongs to the contract of the national API; programs write its segment in two ways. */
export function isNacional(url: string): boolean {
  return ADDRESS.test(url);
}

const ADDRESS = new RegExp(`^/[^/?]+(?:${NACIONAL_PATH}|${PARAMETROS_PATH})(?:[/?]|$)`, 'i');

const { codigo: _own, mensagem: _text, ...PLACES } = ENVELOPE_SHAPES.Erro;

/** A message as the national API writes it, with our places beside. */
export const MENSAGEM_NACIONAL: Fields = {
  codigo: field.errorCode('Código da tabela pública.'),
  descricao: field.text('O que está errado e como se corrige.'),
  complemento: field.text('Onde está, e o que veio; vazio quando nada há a dizer.'),
  Codigo: field.errorCode('O mesmo que codigo.'),
  Descricao: field.text('O mesmo que descricao.'),
  Complemento: field.text('O mesmo que complemento.'),
  ...Object.fromEntries(Object.entries(PLACES).map(([name, one]) => [name, orAbsent(one)])),
};

/** Fields of every refusal. */
export const ENVELOPE_NACIONAL_FIELDS: Fields = {
  tipoAmbiente: orAbsent({
    ...field.integer('1 produção, 2 homologação; falta quando o município não existe.'),
    values: [1, 2],
  }),
  versaoAplicativo: field.text('Versão deste serviço.'),
  dataHoraProcessamento: field.moment('Quando foi respondido, no fuso do município.'),
  erros: field.shape('MensagemNacional[]', 'Todos os erros, na ordem do leiaute.'),
  erro: field.shape('MensagemNacional', 'O primeiro deles, como as consultas e os eventos da API nacional o trazem.'),
  codigo: field.errorCode('Código do primeiro erro.'),
  mensagem: field.text('O primeiro erro em uma frase.'),
};

type Place = {
  readonly site: string;
  readonly timestamp: string;
  readonly ambiente: Ambiente | undefined;
};

/** Head of every answer of the contract. */
export function headNacional({ ambiente, timestamp }: Omit<Place, 'site'>) {
  return {
    tipoAmbiente: ambiente && Number(AMBIENTES[ambiente].tpAmb),
    versaoAplicativo: VER_APLIC,
    dataHoraProcessamento: timestamp,
  };
}

export function envelopeNacionalOf({ faults }: Refusal, place: Place) {
  const erros = errosOf(limitFaults(faults), place.site).map(mensagemOf);
  const [{ codigo, mensagem }] = faults;
  return { ...headNacional(place), erros, erro: erros[0], codigo, mensagem };
}

export function alertasOf(avisos: readonly Aviso[], site: string): readonly object[] {
  return avisosOf(avisos, site).map(mensagemOf);
}

type Told = {
  readonly codigo: string;
  readonly xpath: string;
  readonly mensagem: string;
  readonly doc_url: string;
  readonly linha?: number | undefined;
  readonly coluna?: number | undefined;
  readonly encontrado?: string | undefined;
};

function mensagemOf({ codigo, mensagem, ...rest }: Told): object {
  const complemento = complementOf(rest);
  return {
    ...{ codigo, descricao: mensagem, complemento },
    ...{ Codigo: codigo, Descricao: mensagem, Complemento: complemento },
    ...rest,
  };
}

function complementOf({ xpath, linha, coluna, encontrado, doc_url }: Omit<Told, 'codigo' | 'mensagem'>): string {
  const place = linha === undefined ? xpath : `${xpath} (linha ${linha}, coluna ${coluna})`;
  return [place, encontrado && `veio: ${encontrado}`, doc_url].filter((part) => part).join('; ');
}
