/** The Grafana dashboard under a fault: its panels by a real Prometheus, and its pictures in the documentation. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BoardPanel, type Drawn, drawBoard, legendOf, type Span } from '../../scripts/quadro.ts';
import { grafanaBoard } from '../../src/published/grafana.ts';
import { openBrowser } from './browser.ts';
import { ROOT } from './process.ts';
import type { Watching } from './prometheus.ts';

/** Whether the pictures are recorded again (`npm run quadro`). */
export const IS_RECORDED = process.env['NFSE_GRAVAR_QUADRO'] === '1';
/** A folder for a picture of the whole dashboard under each fault, for inspection. */
const WHOLE = process.env['NFSE_TEST_IMAGENS'];

const FOLDER = path.join(ROOT, 'docs/site/quadro');
const BOARD: { readonly panels: readonly BoardPanel[] } = JSON.parse(grafanaBoard());
/** Panels that show every fault: the stats, and the alerts. */
const ALWAYS: readonly string[] = BOARD.panels.filter(({ type }) => type !== 'timeseries').map(({ title }) => title);

/** The time that a recording shows of the normal state before a fault, of its worst moment, and after it. */
const [BEFORE_MS, WORST_MS, AFTER_MS] = IS_RECORDED ? [25_000, 8_000, 5_000] : [0, 0, 0];
const POINTS = 120;
const FAULT_MS = 1_000;

/** Minutes are seconds here, as in the alerts. */
const shortened = (expr: string): string => expr.replaceAll('[5m]', '[20s]').replaceAll('[1h]', '[120s]');

/** The panels that show a picture's fault, by its name, beside those that show every one. */
export const SHOWN = {
  bem: ['Requisições por status', 'Duração de uma emissão', 'Respostas do ADN'],
  'adn-fora': ['Em espera', 'Há quanto tempo espera o mais antigo', 'Chamadas ao ADN por classe'],
  'adn-recusa': ['Respostas do ADN', 'Notas por estado em que entram'],
  'aliquota-falta': ['O que falta', 'Em espera'],
  'banco-preso': ['Requisições por status', 'Duração de uma emissão', 'Transmissão: desde a última volta'],
  'banco-fora': ['Requisições por status', 'Conexões com o banco'],
  'processo-parado': ['Partes sem resposta, e reiniciadas na última hora', 'Requisições por status'],
  'processos-morrem': ['Partes sem resposta, e reiniciadas na última hora', 'Requisições por status'],
  vencimentos: ['Vence em menos de 90 dias', 'Requisições por status'],
  'arquivo-falta': ['O que falta', 'ADN que não responde, municípios impedidos', 'Em espera'],
  'servico-fora': ['Requisições por status', 'Memória'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type Shown = keyof typeof SHOWN;

/** Makes a fault and repairs it. The test calls `worst` when the fault is fully there, before the repair; then the dashboard is checked. */
export async function showFault(
  watching: Watching,
  name: Shown,
  fault: (worst: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await pause(BEFORE_MS);
  const begin = Date.now();
  let end = begin;
  const worst = async (): Promise<void> => {
    await pause(WORST_MS);
    end = Date.now();
    for (const panel of panelsOf(SHOWN[name])) {
      const span = spanOf(begin - FAULT_MS, begin, end, end);
      const { lines } = await readPanel(watching, panel, span);
      assert.ok(lines.length > 0, `${panel.title} is empty under ${name}`);
    }
  };
  await fault(worst);
  await pause(AFTER_MS);
  const now = Date.now();
  const [from, to] = [begin - BEFORE_MS, now];
  // The normal state has no beginning of a fault.
  if (IS_RECORDED)
    await record(watching, name, name === 'bem' ? spanOf(from, now, now, to) : spanOf(from, begin, end, to));
}

function spanOf(from: number, begin: number, end: number, to: number): Span {
  const [a, b, c, d] = [from, begin, end, to].map((moment) => Math.round(moment / 1_000));
  return { from: a!, begin: b!, end: c!, to: d!, step: Math.max(1, Math.ceil((d! - a!) / POINTS)) };
}

function panelsOf(titles: readonly string[]): readonly BoardPanel[] {
  return titles.map((title) => BOARD.panels.find((one) => one.title === title) ?? assert.fail(`no panel ${title}`));
}

async function readPanel(watching: Watching, panel: BoardPanel, span: Span): Promise<Drawn> {
  // A stat shows the value of the moment.
  const within = panel.type === 'stat' ? { ...span, from: span.end, to: span.end } : span;
  const each = panel.targets.map(async ({ expr, legendFormat }) => {
    const found = await watching.range(shortened(expr), within);
    return found.map(({ metric, points }) => ({ legend: legendOf(legendFormat, metric, panel.title), points }));
  });
  const lines = (await Promise.all(each)).flat();
  return { panel, lines: lines.toSorted((one, other) => one.legend.localeCompare(other.legend, 'pt')) };
}

async function record(watching: Watching, name: Shown, span: Span): Promise<void> {
  const draw = async (panels: readonly BoardPanel[]): Promise<string> =>
    drawBoard(await Promise.all(panels.map((panel) => readPanel(watching, panel, span))), span);
  mkdirSync(FOLDER, { recursive: true });
  const own = await draw(panelsOf([...ALWAYS, ...SHOWN[name]]));
  // The port of a run is irrelevant.
  writeFileSync(path.join(FOLDER, `${name}.html`), own.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8083'));
  if (WHOLE === undefined) return;
  mkdirSync(WHOLE, { recursive: true });
  const file = path.join(WHOLE, `quadro-${name}.html`);
  const style =
    'body{font-family:sans-serif;margin:8px}.quadro{display:grid;grid-template-columns:repeat(4,1fr);gap:8px}';
  writeFileSync(file, `<!doctype html><meta charset="utf-8"><style>${style}</style>${await draw(BOARD.panels)}`);
  const page = await (await openBrowser())?.newPage();
  await page?.resize(1_900, 1_900);
  await page?.open(`file://${file}`);
  await page?.picture(path.join(WHOLE, `quadro-${name}.png`));
}
