/** `npm run bench`: the processor cost of the service. `--help` lists the options; each kind of measure has its own file. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { benchDatabases } from './bancos.ts';
import { benchBusca } from './busca.ts';
import { benchCatalogos } from './catalogos.ts';
import { benchFence, saveReference } from './cerca.ts';
import { benchFull } from './cheio.ts';
import { hasChanges, nameOwnTree } from './commit.ts';
import { benchComparison } from './comparar.ts';
import { DOCUMENTOS, type Documento } from './documents.ts';
import { benchIssuers } from './emissores.ts';
import { benchEndurance } from './endurance.ts';
import { DISTRIBUTIONS, type Distribution, ISSUERS_MAX, type Issuers } from './issuers.ts';
import { judgeFigures } from './judge.ts';
import { measure } from './medir.ts';
import { benchMudancas } from './mudancas.ts';
import { countOf, describeOptions, type Options, readOptions } from './options.ts';
import { benchOutage } from './outage.ts';
import { benchWings } from './partes.ts';
import { benchProfile } from './profile.ts';
import { benchReads } from './reads.ts';
import { describeConditions, printMeasured, saveMeasured, timesFloor } from './report.ts';
import type { Path } from './scene.ts';
import { printRows } from './tables.ts';

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) console.log(describeOptions());
  else await bench(options);
} catch (error) {
  console.error(error instanceof Error && !process.env['DEBUG'] ? `A medida não foi feita: ${error.message}` : error);
  process.exitCode = 1;
}

async function bench(options: Options): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'nfse-bench-'));
  // The database server's own account must be able to enter when root runs this.
  await chmod(dataDir, 0o755);
  try {
    if (options.julgar) printRows(judgeRows());
    else if (options.danfse) printRows(await danfseRows());
    else if (options.busca !== undefined) await benchBusca(dataDir, countOf(options, 'busca'));
    else if (options.mudancas !== undefined) await benchMudancas(dataDir, countOf(options, 'mudancas'));
    else if (options.custo) process.exitCode = (await costFits(dataDir, options)) ? 0 : 1;
    else if (options.catalogos) {
      await benchCatalogos(dataDir, {
        connections: countOf(options, 'conexoes'),
        seconds: countOf(options, 'segundos'),
      });
    } else await benchIssuing(dataDir, options);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function benchIssuing(dataDir: string, options: Options): Promise<void> {
  const common = {
    commit: await nameOwnTree(),
    path: pathOf(options),
    starts: countOf(options, 'partidas'),
    windows: countOf(options, 'janelas'),
    notes: countOf(options, 'notas'),
    rate: countOf(options, 'ritmo'),
    burst: countOf(options, 'rajada'),
    providers: countOf(options, 'prestadores'),
    connections: countOf(options, 'conexoes'),
  };
  if (options.comparar !== undefined)
    await benchComparison(dataDir, {
      ...common,
      ref: options.comparar,
      saves: options.graficos,
      traced: options.rastros,
    });
  else if (options.cerca) process.exitCode = (await benchFence(dataDir, common)) ? 0 : 1;
  else if (options.partes) await benchWings(dataDir, { ...common, only: options.so, saves: options.graficos });
  else if (options.banco !== undefined) {
    await benchDatabases(dataDir, {
      ...common,
      url: options.banco,
      besides: options['ao-lado'],
      issuers: issuersOf(options),
    });
  } else if (options.emissores !== '1')
    await benchIssuers(dataDir, { ...common, issuers: issuersOf(options), saves: options.graficos });
  else if (options.cheio !== undefined) {
    const fill = { total: countOf(options, 'cheio'), tenants: countOf(options, 'municipios') };
    await benchFull(dataDir, { ...common, ...fill, saves: options.graficos });
  } else if (options.perfil) await benchProfile(dataDir, common);
  else if (options.fora !== undefined) await benchOutage(dataDir, common, countOf(options, 'fora'));
  else if (options.leituras !== undefined) {
    const [total, seconds] = [countOf(options, 'leituras'), countOf(options, 'segundos')];
    await benchReads(dataDir, { ...common, total, seconds, saves: options.graficos });
  } else if (options.minutos !== undefined)
    await benchEndurance(dataDir, { ...common, minutes: countOf(options, 'minutos'), saves: options.graficos });
  else if (common.path.isSandbox || common.path.documento !== 'comum') {
    throw new Error(
      'o piso e a régua são os da nota comum em produção; os outros caminhos se medem com --comparar, --perfil, --fora, --minutos ou --leituras.',
    );
  } else {
    // The page and the reference name a commit that anybody can check out.
    if (options.graficos && (await hasChanges()))
      throw new Error('--graficos mede um commit: grave antes as mudanças.');
    const measured = await measure(dataDir, common);
    const conditions = describeConditions(common, measured.foreign);
    printMeasured(measured, conditions);
    if (options.graficos) {
      saveMeasured(measured, conditions);
      saveReference({ commit: common.commit, vezesPiso: timesFloor(measured) });
    }
  }
}

function pathOf({ documento, json, sandbox }: Options): Path {
  const name = json ? 'json' : documento;
  if (!Object.hasOwn(DOCUMENTOS, name)) {
    throw new Error(`--documento ${name} não existe. Há: ${Object.keys(DOCUMENTOS).join(', ')}.`);
  }
  return { isSandbox: sandbox, documento: name as Documento };
}

function issuersOf(options: Options): Issuers {
  const [count, distribution] = [countOf(options, 'emissores'), options.distribuicao as Distribution];
  if (count > ISSUERS_MAX) throw new Error(`--emissores vai até ${ISSUERS_MAX}.`);
  if (!DISTRIBUTIONS.includes(distribution)) {
    throw new Error(`--distribuicao ${distribution} não existe. Há: ${DISTRIBUTIONS.join(', ')}.`);
  }
  return { count, distribution };
}

/** The requests and documents of tests load their recorder, which prints a summary at the end; other measures do without. */
async function costFits(dataDir: string, { so }: Options): Promise<boolean> {
  const { benchCusto } = await import('./custo.ts');
  return benchCusto(dataDir, so);
}

async function danfseRows(): Promise<[string, string][]> {
  const { danfseFigures } = await import('./danfse.ts');
  const { ordinary, longest, bytes } = danfseFigures();
  return [
    ['DANFSe por segundo, nota comum', `${ordinary.toFixed(0)} (segundo de CPU)`],
    ['DANFSe por segundo, textos mais longos', `${longest.toFixed(0)} (segundo de CPU)`],
    ['tamanho do PDF da nota comum', `${bytes} bytes`],
  ];
}

function judgeRows(): [string, string][] {
  const { rules, documents, ordinary, mixed, dearest } = judgeFigures();
  return [
    ['julgamento: regras', `${rules}`],
    ['julgamento da DPS comum, mediana', `${ordinary.toFixed(1)} µs`],
    [`julgamento de ${documents} DPS aceitas, mediana`, `${mixed.toFixed(1)} µs`],
    ['julgamento da mais cara delas, mediana', `${dearest.toFixed(1)} µs`],
  ];
}
