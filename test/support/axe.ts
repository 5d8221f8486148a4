/** Checks a page with axe-core against WCAG 2.2 A and AA and good practice. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from './browser.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

type Violation = {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly where: readonly string[];
};

const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, impact, help, nodes }) => ({ id, impact, help, where: nodes.slice(0, 5).map(({ html }) => html) })))`;

/** Fails on each serious or critical violation on the open page. */
export async function assertAccessible(page: Page, called: string): Promise<void> {
  if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await page.evaluate(`${AXE}; undefined`);
  const found = await page.evaluate<readonly Violation[]>(RUN);
  assert.deepEqual(found, [], called);
}

/** Fails if the page as a whole is wider than the window. */
export async function assertFits(page: Page, called: string): Promise<void> {
  const [whole, window] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  assert.ok(whole <= window, `${called}: ${whole} pixels in a window of ${window}`);
}
