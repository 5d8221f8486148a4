/** The models and operations of the clients, as each language writes them. Published names stay unchanged. */
import type { Campo, Modelo, Operacao } from './modelo.ts';

type Write = (operacoes: readonly Operacao[], modelos: readonly Modelo[]) => string;

const LINE_MAX = 120;

/** Text wrapped into lines, each behind a prefix. */
function lines(text: string, before: string): readonly string[] {
  const wrapped: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = wrapped.at(-1);
    if (last !== undefined && last.length + word.length + 1 <= LINE_MAX)
      wrapped[wrapped.length - 1] = `${last} ${word}`;
    else wrapped.push(`${before}${word}`);
  }
  return wrapped;
}

/** A documentation comment in the style of PHP and Java. */
function block(text: string, indent: string): string {
  if (text === '') return '';
  const safe = text.replaceAll('*/', '* /');
  const line = `${indent}/** ${safe} */`;
  if (line.length <= LINE_MAX) return `${line}\n`;
  return `${indent}/**\n${lines(safe, `${indent} * `).join('\n')}\n${indent} */\n`;
}

const upper = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();

export const writePhp: Write = (operacoes, modelos) => {
  const rows = operacoes.map(
    ({ nome, metodo, caminho, isRepetivel, comCertificado, assinatura }) =>
      `    '${nome}' => ['${metodo}', '${caminho}', ${isRepetivel}, ${comCertificado}, ${assinatura === undefined ? 'null' : `'${assinatura}'`}],\n`,
  );
  const type = ({ tipo, modelo, isLista, isNulo }: Campo): string => {
    const one = { texto: 'string', inteiro: 'int', booleano: 'bool', livre: 'mixed', modelo: modelo ?? '' }[tipo];
    const whole = isLista ? 'array' : one;
    return isNulo && whole !== 'mixed' ? `?${whole}` : whole;
  };
  const classes = modelos.map(({ nome, sobre, campos }) => {
    const parts = campos.flatMap((one) =>
      one.modelo === undefined ? [] : [`        '${one.nome}' => ${one.modelo}::class,\n`],
    );
    const listed = ({ isLista, tipo, modelo }: Campo): string =>
      isLista ? ` @var list<${tipo === 'modelo' ? modelo : 'string'}>` : '';
    const fields = campos.map(
      (one) => `${block(`${one.sobre}${listed(one)}`, '    ')}    public readonly ${type(one)} $${one.nome};\n`,
    );
    const table = parts.length === 0 ? '[]' : `[\n${parts.join('')}    ]`;
    return `${block(sobre, '')}final class ${nome}\n{\n    use Modelo;\n\n    private const PARTES = ${table};\n\n${fields.join('')}}\n`;
  });
  const about =
    '/** Método, caminho, se se repete com a mesma chave, se mostra o certificado, e o cabeçalho da assinatura. */';
  return `${about}\nconst OPERACOES = [\n${rows.join('')}];\n\n${classes.join('\n')}`;
};

export const writePython: Write = (operacoes, modelos) => {
  const py = (value: boolean): string => (value ? 'True' : 'False');
  const rows = operacoes.map(
    ({ nome, metodo, caminho, isRepetivel, comCertificado, assinatura }) =>
      `    '${nome}': ('${metodo}', '${caminho}', ${py(isRepetivel)}, ${py(comCertificado)}, ${assinatura === undefined ? 'None' : `'${assinatura}'`}),\n`,
  );
  const type = ({ tipo, modelo, isLista, isNulo }: Campo): string => {
    const one = { texto: 'str', inteiro: 'int', booleano: 'bool', livre: 'Any', modelo: modelo ?? '' }[tipo];
    const whole = isLista ? `List[${one}]` : one;
    return isNulo && whole !== 'Any' ? `Optional[${whole}]` : whole;
  };
  const classes = modelos.map(({ nome, sobre, campos }) => {
    const parts = campos.flatMap((one) => (one.modelo === undefined ? [] : [`'${one.nome}': '${one.modelo}'`]));
    const table = parts.length === 0 ? '' : `    _partes: ClassVar[Dict[str, str]] = {${parts.join(', ')}}\n`;
    const about = sobre === '' ? '' : `    """${lines(sobre, '').join('\n    ')}"""\n\n`;
    const fields = campos.map((one) => `${lines(one.sobre, '    #: ').join('\n')}\n    ${one.nome}: ${type(one)}\n`);
    return `@dataclass(frozen=True)\nclass ${nome}(_Modelo):\n${about}${table}${fields.join('')}`;
  });
  const about =
    '# Método, caminho, se se repete com a mesma chave, se mostra o certificado, e o cabeçalho da assinatura.';
  return `${about}\nOPERACOES = {\n${rows.join('')}}\n\n\n${classes.join('\n\n')}`;
};

export const writeJava: Write = (operacoes, modelos) => {
  const rows = operacoes.map(
    ({ nome, metodo, caminho, isRepetivel, comCertificado, assinatura }) =>
      `    private static final Operacao ${upper(nome)} = new Operacao("${nome}", "${metodo}", "${caminho}",\n        ${isRepetivel}, ${comCertificado}, ${assinatura === undefined ? 'null' : `"${assinatura}"`});\n`,
  );
  const type = ({ tipo, modelo, isLista }: Campo): string => {
    const one = { texto: 'String', inteiro: 'Long', booleano: 'Boolean', livre: 'Object', modelo: modelo ?? '' }[tipo];
    return isLista ? `List<${one}>` : one;
  };
  const read = ({ nome, tipo, modelo, isLista }: Campo): string => {
    if (tipo === 'modelo') return `${isLista ? 'lista' : 'parte'}(dados, "${nome}", ${modelo}::new)`;
    if (isLista) return `textos(dados, "${nome}")`;
    return {
      texto: `texto(dados, "${nome}")`,
      inteiro: `inteiro(dados, "${nome}")`,
      booleano: `booleano(dados, "${nome}")`,
      livre: `dados.get("${nome}")`,
    }[tipo];
  };
  const nullable = ({ isNulo }: Campo): string => (isNulo ? ' Pode ser nulo.' : '');
  const classes = modelos.map(({ nome, sobre, campos }) => {
    const fields = campos.map(
      (one) =>
        `${block(`${one.sobre}${nullable(one)}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;'), '        ')}        public final ${type(one)} ${one.nome};\n`,
    );
    const reads = campos.map((one) => `            ${one.nome} = ${read(one)};\n`);
    return `${block(sobre, '    ')}    public static final class ${nome} {\n${fields.join('')}\n        ${nome}(Map<String, Object> dados) {\n${reads.join('')}        }\n    }\n`;
  });
  return `${rows.join('')}\n${classes.join('\n')}`;
};

export const writeCsharp: Write = (operacoes, modelos) => {
  const rows = operacoes.map(
    ({ nome, metodo, caminho, isRepetivel, comCertificado, assinatura }) =>
      `        public static readonly Operacao ${nome} = new Operacao("${nome}", "${metodo}", "${caminho}",\n            ${isRepetivel}, ${comCertificado}, ${assinatura === undefined ? 'null' : `"${assinatura}"`});\n`,
  );
  const type = ({ tipo, modelo, isLista }: Campo): string => {
    const one = { texto: 'string', inteiro: 'long?', booleano: 'bool?', livre: 'JsonElement?', modelo: modelo ?? '' }[
      tipo
    ];
    return isLista ? `IReadOnlyList<${one}>` : one;
  };
  const read = ({ nome, tipo, modelo, isLista }: Campo): string => {
    if (tipo === 'modelo') return `Leitura.${isLista ? 'Lista' : 'Parte'}(dados, "${nome}", um => new ${modelo}(um))`;
    if (isLista) return `Leitura.Textos(dados, "${nome}")`;
    const how = { texto: 'Texto', inteiro: 'Inteiro', booleano: 'Booleano', livre: 'Livre' }[tipo];
    return `Leitura.${how}(dados, "${nome}")`;
  };
  const summary = (text: string, indent: string): string => {
    if (text === '') return '';
    const safe = `<summary>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</summary>`;
    return `${lines(safe, `${indent}/// `).join('\n')}\n`;
  };
  const nullable = ({ isNulo }: Campo): string => (isNulo ? ' Pode ser nulo.' : '');
  const classes = modelos.map(({ nome, sobre, campos }) => {
    const fields = campos.map(
      (one) =>
        `${summary(`${one.sobre}${nullable(one)}`, '        ')}        public ${type(one)} ${one.nome} { get; ${one.nome === 'repetida' ? 'internal set; ' : ''}}\n`,
    );
    const reads = campos.map((one) => `            ${one.nome} = ${read(one)};\n`);
    return `${summary(sobre, '    ')}    public sealed class ${nome}\n    {\n${fields.join('')}\n        internal ${nome}(JsonElement dados)\n        {\n${reads.join('')}        }\n    }\n`;
  });
  return `    internal static class Operacoes\n    {\n${rows.join('')}    }\n\n${classes.join('\n')}`;
};
