/** `nfse config`: every setting, its effective value and origin, and a file to start from. Secrets are never shown. */

import { type CliWorld, type Command, JSON_OPTION, type SettingsKnown } from '../../base/terminal/command.ts';
import { describeUnknown, faultText, nearestText, type SettingsFault } from '../../base/terminal/settings-file.ts';
import { jsonText } from '../../base/terminal/text.ts';
import { VARIABLES, type Variable } from '../../base/terminal/variables.ts';

type Shown = {
  readonly nome: string;
  /** Null: the setting has no value. */
  readonly valor: string | null;
  readonly origem: 'ambiente' | 'arquivo' | 'padrao' | null;
  readonly linha: number | null;
  readonly para_que: string;
};

const ROWS = Object.entries<Variable<unknown>>(VARIABLES);

export const CONFIG: Command = {
  name: 'config',
  summary: 'Mostra cada ajuste, o que vale, de onde veio (ambiente, linha do arquivo, padrão) e para que serve.',
  options: {
    exemplo: { help: 'escreve um arquivo de ajustes comentado, para começar: nfse config --exemplo > nfse.env' },
    ...JSON_OPTION,
  },
  run: async (world, values) => {
    if (values['exemplo'] !== true) return showSettings(world, values['json'] === true);
    world.out(exampleFile());
    return 0;
  },
};

async function showSettings(world: CliWorld, asJson: boolean): Promise<number> {
  const known = await world.settings();
  const problems: SettingsFault[] = [...(known.text?.faults ?? [])];
  const shown = ROWS.map(([name, row]) => showSetting(name, row, known, problems));
  // Faults of a combination are reported only when each setting alone is correct.
  if (problems.length === 0 && known.problem !== undefined) problems.push({ line: undefined, what: known.problem });
  const others = known.text?.assignments.filter(({ name }) => !Object.hasOwn(VARIABLES, name)) ?? [];
  problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  const warnings = [...known.warnings, ...describeUnknown(known.env)];
  world.out(asJson ? settingsJson() : [...settingsLines(), ''].join('\n'));
  return problems.length === 0 ? 0 : 1;

  function settingsJson(): string {
    return jsonText({
      arquivo: { caminho: known.file, existe: known.text !== undefined },
      ajustes: shown,
      outras: others.map(({ name, line }) => ({ nome: name, linha: line })),
      avisos: warnings,
      problemas: problems.map(faultText),
    });
  }

  function settingsLines(): readonly string[] {
    return [
      `Arquivo de ajustes: ${known.file}${known.text === undefined ? ', que não existe (nfse config --exemplo escreve um)' : ''}`,
      'O ambiente vale mais que o arquivo, e o arquivo mais que o padrão.',
      '',
      ...shown.flatMap(settingLines),
      ...section(
        'Outras variáveis do arquivo, que não são deste serviço e passam adiante como estão:',
        others.map(({ name, line }) => `${name} (linha ${line})${nearestText(name)}`),
      ),
      ...section('Avisos:', warnings),
      ...section('O que corrigir:', problems.map(faultText)),
    ];
  }
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

/** The effective value of a setting and its origin. Its faults are added to the problems. */
function showSetting(
  nome: string,
  row: Variable<unknown>,
  { env, text }: SettingsKnown,
  problems: SettingsFault[],
): Shown {
  const given = text?.assignments.find(({ name }) => name === nome);
  const [origem, value] = env[nome]
    ? (['ambiente', env[nome]] as const)
    : given?.value
      ? (['arquivo', given.value] as const)
      : row.usual === undefined
        ? ([null, undefined] as const)
        : (['padrao', row.usual] as const);
  const linha = origem === 'arquivo' ? given!.line : null;
  const valor = value === undefined ? null : shownValue(nome, row, value, linha, problems);
  return { nome, valor, origem, linha, para_que: row.help };
}

/** A faulty text is not repeated: it may hold a password in a wrong place. */
function shownValue(
  name: string,
  { parse, mask }: Variable<unknown>,
  value: string,
  line: number | null,
  problems: SettingsFault[],
): string {
  try {
    const parsed = parse(value, name);
    return mask === undefined ? hidePassword(value) : mask(parsed);
  } catch (error) {
    problems.push({ line: line ?? undefined, what: (error as Error).message });
    return '(não serve)';
  }
}

/** Any address may hold a user and a password, and a token in its query. */
function hidePassword(value: string): string {
  return value
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1(oculto)@')
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^?#]*)[?#].*$/i, '$1?(oculto)');
}

function settingLines({ nome, valor, origem, linha, para_que }: Shown): readonly string[] {
  const from = { ambiente: 'do ambiente', arquivo: `linha ${linha} do arquivo`, padrao: 'padrão' };
  const value = valor === null || origem === null ? 'sem valor' : `${valor}  (${from[origem]})`;
  return [`${nome}: ${value}`, `    ${para_que}`];
}

/** Every setting as a comment, with its default. */
function exampleFile(): string {
  return [
    '# Ajustes do serviço de NFS-e. O lugar deste arquivo é /etc/nfse.env; outro se diz com --config ARQUIVO.',
    '# Cada linha é NOME=valor, como no EnvironmentFile= do systemd. Um comentário fica numa linha só dele. Um valor com espaço, # ou \\ vai entre',
    "# aspas simples ('…'); nada se expande. Uma variável do ambiente vale mais que a deste arquivo.",
    '# Tem segredos? Então: chown root:nfse, chmod 640. nfse config mostra o que vale e o que corrigir.',
    '',
    ...ROWS.flatMap(([name, { help, usual = '', more }]) => [
      `# ${help}${more === undefined ? '' : ` (${more})`}`,
      `#${name}=${usual}`,
      '',
    ]),
  ].join('\n');
}
