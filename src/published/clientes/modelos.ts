/**
 * The clients in other languages (`packages/clientes`) as they are handed out. Paths of operations and fields of answers are made of
 * the public description when a file is read. Each language writes one list of models; the rest is written by hand.
 */
import path from 'node:path';
import { once } from '../../fiscal/catalogs/table.ts';
import { EXAMPLE_SITE } from '../openapi/examples.ts';
import { openapiText } from '../openapi/openapi.ts';
import { projectText } from '../project-text.ts';
import { writeCsharp, writeJava, writePhp, writePython } from './linguagens.ts';
import type { Campo, Modelo, Operacao } from './modelo.ts';

type Schema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | number | null)[];
  readonly const?: string | number;
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
};
type Described = {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
};
type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** The operations of these clients, with the name of the answer's model. */
const ANSWERS: Readonly<Record<string, string | undefined>> = {
  emitirNota: 'NotaEmitida',
  validarDps: 'DpsValidada',
  consultarNota: 'NotaConsultada',
  consultarNotaPorProtocolo: 'NotaPorProtocolo',
  consultarNotaPorDps: 'NotaPorDps',
  existeNotaDaDps: undefined,
  registrarEvento: 'EventoRegistrado',
  registrarEventoPorProtocolo: undefined,
  listarEventos: 'EventosListados',
  consultarEvento: 'EventoConsultado',
  baixarDanfse: undefined,
  pedirToken: 'TokenPedido',
  listarNotas: 'NotasListadas',
  seguirMudancas: 'MudancasSeguidas',
  criarAmbiente: 'AmbienteCriado',
  alterarAmbiente: 'AmbienteAlterado',
  documentoDaPersona: undefined,
};

/** A header of the answer that the client shows as a field. */
const REPETIDA: Campo = {
  nome: 'repetida',
  sobre: 'Se a resposta é de um envio de antes: nada foi feito agora.',
  tipo: 'booleano',
  isLista: false,
  isNulo: false,
};
/** A note issued under another key is known by its key alone: these fields are then null. */
const NULL_OF_REPEATED = ['xml_nfse', 'chave_acesso_provisoria'];

const WRITERS = {
  'php/EmissorNfse.php': writePhp,
  'python/emissor_nfse.py': writePython,
  'java/EmissorNfse.java': writeJava,
  'csharp/EmissorNfse.cs': writeCsharp,
};
const FOLDER = 'packages/clientes';
/** The generated part stands below this line of each file. */
const MARK = 'GERADO da descrição OpenAPI, ao ser entregue pelo serviço; não se edita daqui';

export type NomeDeCliente = keyof typeof WRITERS;
export const NOMES_DOS_CLIENTES = Object.keys(WRITERS) as readonly NomeDeCliente[];

/** A whole client, by its path in `packages/clientes`. */
export function writeCliente(name: NomeDeCliente): string {
  const [before, after, ...others] = projectText(`${FOLDER}/${name}`).split(MARK);
  if (after === undefined || others.length > 0) throw new Error(`${FOLDER}/${name} has no marked place`);
  return `${before}${MARK}\n\n${WRITERS[name](operations(), models()).trimEnd()}\n${after}`;
}

/** The clients among the files that the pages offer. */
export const ARQUIVOS_DOS_CLIENTES = Object.fromEntries(
  NOMES_DOS_CLIENTES.map((name) => [
    path.basename(name),
    { type: 'text/plain; charset=utf-8', text: once(() => writeCliente(name)) },
  ]),
);

const description = once((): Description => JSON.parse(openapiText(EXAMPLE_SITE)));

function asked(): readonly { readonly path: string; readonly method: string; readonly operation: Described }[] {
  const all = Object.entries(description().paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
  );
  return Object.keys(ANSWERS).map((name) => {
    const found = all.find(({ operation }) => operation?.operationId === name);
    if (found === undefined) throw new Error(`the description has no operation ${name}`);
    return found;
  });
}

function operations(): readonly Operacao[] {
  return asked().map(({ path, method, operation: { operationId, parameters = [], security } }) => ({
    nome: operationId,
    metodo: method.toUpperCase(),
    caminho: path,
    isRepetivel: parameters.some(({ name }) => name === 'Idempotency-Key'),
    comCertificado: security !== undefined,
    assinatura: parameters.find(({ name }) => name.endsWith('-Assinatura'))?.name,
  }));
}

/** The answers, then the schemas used in them and in the envelope of errors, in the order of the description. */
function models(): readonly Modelo[] {
  const { schemas } = description().components;
  const answers = asked().flatMap(({ operation }): Modelo[] => {
    const nome = ANSWERS[operation.operationId];
    const { content } = operation.responses[200] ?? operation.responses[201] ?? {};
    const schema = content?.['application/json']?.schema;
    if (nome === undefined || schema === undefined) return [];
    const repeated = operation.parameters?.some(({ name }) => name === 'Idempotency-Key') ? [REPETIDA] : [];
    const campos = fieldsOf(schema).map((one) =>
      repeated.length > 0 && NULL_OF_REPEATED.includes(one.nome) ? { ...one, isNulo: true } : one,
    );
    return [{ nome, sobre: `Resposta de ${operation.operationId}.`, campos: [...campos, ...repeated] }];
  });
  const envelope = modelOf('EnvelopeDeErro');
  const found = new Set(['EnvelopeDeErro']);
  const walk = ({ campos }: Modelo): void => {
    for (const { modelo } of campos) {
      if (modelo === undefined || found.has(modelo)) continue;
      found.add(modelo);
      walk(modelOf(modelo));
    }
  };
  for (const one of [...answers, envelope]) walk(one);
  return [
    ...answers,
    ...Object.keys(schemas)
      .filter((name) => found.has(name))
      .map(modelOf),
  ];
}

function modelOf(nome: string): Modelo {
  const schema = description().components.schemas[nome]!;
  const sobre = [schema.title, schema.description].filter((text) => text !== undefined).join('. ');
  return { nome, sobre, campos: fieldsOf(schema) };
}

function fieldsOf({ properties = {}, required = [] }: Schema): readonly Campo[] {
  return Object.entries(properties).map(([nome, schema]) => {
    const { isNulo, ...kind } = kindOf(schema);
    const values = (schema.enum ?? []).filter((one) => typeof one === 'string');
    const among = values.length > 1 ? ` Um de: ${values.join(', ')}.` : '';
    return { nome, sobre: `${schema.description ?? ''}${among}`, ...kind, isNulo: isNulo || !required.includes(nome) };
  });
}

type Kind = Omit<Campo, 'nome' | 'sobre'>;

function kindOf(schema: Schema): Kind {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    const target = description().components.schemas[name]!;
    // An object without declared fields is passed on unchanged.
    if (target.properties === undefined) return { tipo: 'livre', isLista: false, isNulo: false };
    return { tipo: 'modelo', modelo: name, isLista: false, isNulo: false };
  }
  if (schema.oneOf !== undefined) {
    const [one, ...others] = schema.oneOf.filter(({ type }) => type !== 'null');
    if (one === undefined || others.length > 0) return { tipo: 'livre', isLista: false, isNulo: true };
    return { ...kindOf(one), isNulo: schema.oneOf.some(({ type }) => type === 'null') };
  }
  const values = schema.const === undefined ? schema.enum : [schema.const];
  const said = schema.type ?? [...new Set((values ?? []).map((value) => (value === null ? 'null' : typeof value)))];
  const types = typeof said === 'string' ? [said] : said;
  const isNulo = types.includes('null');
  const [type, ...others] = types.filter((one) => one !== 'null');
  if (others.length > 0) return { tipo: 'livre', isLista: false, isNulo };
  if (type === 'array') return { ...kindOf(schema.items!), isLista: true, isNulo };
  const TIPOS = { string: 'texto', integer: 'inteiro', number: 'inteiro', boolean: 'booleano' } as const;
  return { tipo: TIPOS[type as keyof typeof TIPOS] ?? 'livre', isLista: false, isNulo };
}
