/** `nfse municipio exportar`, `importar` and `nfse banco mudar`: move the stored rows to a file, a service or a database. */

import {
  askedWrongly,
  type CliWorld,
  type Command,
  type Terminal,
  textOf,
  type Values,
} from '../../base/terminal/command.ts';
import { waitForSignal } from '../../base/terminal/signals.ts';
import { columns, quoteArgument } from '../../base/terminal/text.ts';
import { VARIABLES } from '../../base/terminal/variables.ts';
import { groupDigits, sizeText } from '../../fiscal/group-digits.ts';
import type { ResumoDeTabela } from './arquivo.ts';
import type { Andamento } from './exportar.ts';

export const MUDANCA_COMMANDS: readonly Command[] = [
  {
    name: 'municipio exportar',
    arguments: 'SLUG',
    summary: 'Escreve num arquivo tudo o que o banco tem de um município, para guardar ou levar a outro serviço.',
    options: { para: { takes: 'ARQUIVO', help: 'arquivo novo: um tar em zstd, com as tabelas em texto e um LEIA-ME' } },
    notes: [
      ['', 'Para levar: nfse municipio alterar SLUG --fechar, e só depois exportar.'],
      ['', 'Os meses que estão no arquivo (nfse arquivo) não vão: leve também o que está em SLUG de NFSE_ARQUIVO.'],
      ['', 'Chaves e senhas não vão: são arquivos da máquina, e o banco só tem os caminhos.'],
    ],
    run: (world, values, [slug]) => exportar(world, slug!, textOf(values, 'para')),
  },
  {
    name: 'municipio importar',
    arguments: 'ARQUIVO',
    summary: 'Traz o município de um arquivo de exportar, inteiro e conferido, ou nada. Ele chega fechado.',
    options: { como: { takes: 'SLUG', help: 'endereço que ele terá aqui (padrão: o que tinha)' } },
    run: (world, values, [arquivo]) => importar(world, arquivo!, textOf(values, 'como')),
  },
];

async function exportar(world: CliWorld, slug: string, file: string | undefined): Promise<number> {
  if (file === undefined) return askedWrongly(world, 'Falta --para ARQUIVO: onde escrever.\n');
  const { exportMunicipio } = await import('./exportar.ts');
  const { municipio, tabelas, bytes, sha256 } = await world.registry((registry) =>
    exportMunicipio(registry, slug, file, andamentoOn(world)),
  );
  world.out(`Exportado ${slug} em ${file}, ${sizeText(bytes)}:\n`);
  tellTables(world, tabelas);
  world.out(`SHA-256 do arquivo: ${sha256}\n`);
  if (municipio.fechado === true) {
    world.out(
      [
        `${slug} continua fechado aqui. No outro serviço: nfse municipio importar ${quoteArgument(file)}`,
        `Para desistir da mudança: nfse municipio alterar ${slug} --sem-fechar`,
        '',
      ].join('\n'),
    );
  } else {
    world.out(
      `É uma cópia: ${slug} continua aberto, e o que ele emitir agora não está nela. Para mudar de serviço: nfse municipio alterar ${slug} --fechar, e exporte de novo.\n`,
    );
  }
  return 0;
}

async function importar(world: CliWorld, file: string, como: string | undefined): Promise<number> {
  const [{ digestFile }, { importMunicipio }, { showMunicipio }] = await Promise.all([
    import('./exportar.ts'),
    import('./importar.ts'),
    import('../../base/world/municipios.ts'),
  ]);
  return world.registry(async (registry) => {
    const { tenant, manifesto, tabelas } = await importMunicipio(registry, file, como, andamentoOn(world));
    world.out(`Importado ${tenant}, como estava em ${manifesto.em}:\n`);
    tellTables(world, tabelas);
    world.out(`SHA-256 do arquivo: ${(await digestFile(file)).sha256}\n`);
    const { problems } = await showMunicipio(registry, tenant);
    for (const problem of problems) world.out(`PROBLEMA  ${problem}\n`);
    if (!manifesto.fechado) {
      world.out(
        `ATENÇÃO  ${manifesto.municipio} estava aberto quando foi exportado: o que emitiu depois não está aqui. Se ainda é atendido lá, não abra este: as mesmas notas seriam numeradas e transmitidas duas vezes.\n`,
      );
    }
    world.out(
      `${tenant} está fechado. Confira (nfse municipio mostrar ${tenant}), aponte para cá quem o procura, e abra: nfse municipio alterar ${tenant} --sem-fechar\n`,
    );
    return 0;
  }, true);
}

function tellTables(terminal: Terminal, tabelas: readonly ResumoDeTabela[]): void {
  const filled = tabelas.filter(({ linhas }) => linhas > 0);
  const rows = filled.map(({ nome, linhas, sha256 }): [string, string] => [
    nome,
    `${groupDigits(linhas).padStart(13)}  ${sha256}`,
  ]);
  for (const line of columns(rows)) terminal.out(`${line}\n`);
}

export const BANCO_MUDAR: Command = {
  name: 'banco mudar',
  summary: 'Leva tudo para outro PostgreSQL, vazio, conferindo cada linha; enquanto dura só se consulta.',
  options: {
    de: { takes: 'URL', help: 'banco de origem (padrão: o deste ambiente, DATABASE_URL ou o embutido)' },
    para: { takes: 'URL', help: 'banco de destino, vazio: postgres://usuario@host:5432/banco' },
    ensaio: { help: 'só diz o que faria, e por quanto tempo' },
    desistir: { help: 'depois de uma mudança morta no meio: a origem volta a aceitar gravações' },
  },
  notes: [['', 'Senhas vão melhor no arquivo de PGPASSFILE: a linha de comando outros podem ver.']],
  run: mudar,
};

async function mudar(world: CliWorld, values: Values): Promise<number> {
  const [de, para] = ['de', 'para'].map((name) => {
    const url = textOf(values, name);
    return url === undefined ? undefined : VARIABLES.DATABASE_URL.parse(url, `--${name}`);
  });
  if (para === undefined) return askedWrongly(world, 'Falta --para URL: o banco de destino.\n');
  const { desistirDaMudanca, mudarBanco, planMudanca } = await import('./mudar-banco.ts');
  return world.databases(de, para, async (source, target) => {
    const lados = { de: source, para: target };
    if (values['desistir'] === true) {
      await desistirDaMudanca(lados);
      world.out('O banco de origem aceita gravações de novo; o de destino ficou pela metade, e fechado.\n');
      return 0;
    }
    const { municipios, bytes, minutos, isResumed } = await planMudanca(lados);
    const what = `${groupDigits(municipios.length)} município${municipios.length === 1 ? '' : 's'}, ${sizeText(bytes)}; cerca de ${minutos} min em que só se consulta (503 a quem emite)`;
    if (values['ensaio'] === true) {
      world.out(`Seria ${isResumed ? 'continuada' : 'feita'} a mudança: ${what}.\n`);
      return 0;
    }
    world.out(`${isResumed ? 'Continua a mudança' : 'Muda'}: ${what}.\n`);
    const asked = new AbortController();
    void waitForSignal().then(() => asked.abort(new Error(BROKEN_OFF)));
    const began = performance.now();
    const mudado = await mudarBanco(lados, {
      show: progressOn(world),
      tell: (line) => world.out(`${line}\n`),
      signal: asked.signal,
    });
    const seconds = Math.round((performance.now() - began) / 1000);
    world.out(`Mudado e conferido em ${seconds} s:\n`);
    for (const line of columns(mudado.map(({ nome, linhas }) => [nome, groupDigits(linhas).padStart(13)])))
      world.out(`${line}\n`);
    world.out(MUDADO);
    return 0;
  });
}

const BROKEN_OFF =
  'a mudança foi interrompida, e o banco de origem aceita gravações de novo. O mesmo comando a continua.';

const MUDADO = `Agora: pare o serviço, defina DATABASE_URL com o banco de destino, e suba-o. O banco de origem fica como está, e só aceita consultas.
`;

const LINE_EVERY_MS = 5_000;

/** One line in some seconds, at most. */
function everyLine(terminal: Terminal): (line: () => string) => void {
  let told = performance.now();
  return (line) => {
    const now = performance.now();
    if (now - told < LINE_EVERY_MS) return;
    told = now;
    terminal.out(`${line()}\n`);
  };
}

function andamentoOn(terminal: Terminal): Andamento {
  const tell = everyLine(terminal);
  let [passed, rows] = [0, 0];
  return {
    rows: (bytes, linhas) => {
      passed += bytes;
      rows += linhas;
      tell(() => `  ${groupDigits(rows)} linhas, ${sizeText(passed)}`);
    },
    tell: (text) => terminal.out(`${text}\n`),
  };
}

function progressOn(terminal: Terminal): (part: number) => void {
  const tell = everyLine(terminal);
  const began = performance.now();
  return (part) =>
    tell(() => {
      const rest = ((performance.now() - began) / 1000) * (1 / part - 1);
      const left = rest < 90 ? `${Math.round(rest)} s` : `${Math.round(rest / 60)} min`;
      return `  ${Math.floor(part * 100)} %${part > 0 ? `, faltam cerca de ${left}` : ''}`;
    });
}
