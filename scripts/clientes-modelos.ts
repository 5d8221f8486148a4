/**
 * The generated part of the clients in other languages (`packages/clientes`): the paths of the operations and the
 * fields of their answers, made of the public description. Each language writes one list of models; everything else of
 * a client is written by hand.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DESCRIBED_DOOR } from '../src/doors/rest/described-door.ts';
import { describeApi } from '../src/published/openapi/openapi.ts';
import { writeCsharp, writeJava, writePhp, writePython } from './clientes-linguagens.ts';

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

export type Campo = {
  readonly nome: string;
  readonly sobre: string;
  /** `modelo`: a model of the list, by its name; `livre`: any JSON. */
  readonly tipo: 'texto' | 'inteiro' | 'booleano' | 'livre' | 'modelo';
  readonly modelo?: string;
  readonly isLista: boolean;
  /** True: the field may be null or absent. */
  readonly isNulo: boolean;
};
export type Modelo = { readonly nome: string; readonly sobre: string; readonly campos: readonly Campo[] };
export type Operacao = {
  readonly nome: string;
  readonly metodo: string;
  readonly caminho: string;
  /** True: a repetition under one key gets the first answer. */
  readonly isRepetivel: boolean;
  /** True: production gives the answer to one party alone, known by the certificate of the connection. */
  readonly comCertificado: boolean;
  /** The header of the signature of a JSON body. */
  readonly assinatura: string | undefined;
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
const BEGIN = 'GERADO por scripts/clientes-modelos.ts da descrição OpenAPI; não se edita daqui';
const END = 'GERADO até aqui';

/** The files with a generated part, as they should be. */
export const CLIENTES = Object.entries(WRITERS).map(([name, write]) => {
  const path = `packages/clientes/${name}`;
  return { path, make: () => replacePart(path, write(operations(), models())) };
});

function replacePart(path: string, part: string): string {
  const text = readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');
  const lines = text.split('\n');
  const [begin, end] = [BEGIN, END].map((mark) => lines.findIndex((line) => line.includes(mark)));
  if (begin === undefined || end === undefined || begin < 0 || end < begin)
    throw new Error(`${path} has no marked part`);
  return [...lines.slice(0, begin + 1), '', part.trimEnd(), '', ...lines.slice(end)].join('\n');
}

let described: Description | undefined;

function description(): Description {
  described ??= describeApi(DESCRIBED_DOOR) as unknown as Description;
  return described;
}

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
