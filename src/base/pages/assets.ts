/** The style and the scripts of the console, as separate files, because the policy of its pages allows nothing inline. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { answerReady } from '../http/ready.ts';
import type { HttpRoute } from '../http/router.ts';
import { STYLE } from './style.ts';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const read = (url: URL | string): string => readFileSync(fileURLToPath(url), 'utf8');

/** Files by their names. htmx updates parts of a page; without scripts the pages work by links and forms. */
const ASSETS = {
  'painel.css': { type: CSS, text: STYLE },
  'htmx.js': { type: SCRIPT, text: read(import.meta.resolve('htmx.org/dist/htmx.min.js')) },
  'painel.js': { type: SCRIPT, text: read(new URL('./navegador.js', import.meta.url)) },
} as const;

type Name = keyof typeof ASSETS;

const VERSION_LENGTH = 12;
const VERSIONS = Object.fromEntries(
  Object.entries(ASSETS).map(([name, { text }]) => [name, hash('sha256', text, 'base64url').slice(0, VERSION_LENGTH)]),
) as Readonly<Record<Name, string>>;

/** Address of a file. It changes with the file, so that the file may be cached for a year. */
export function assetPath(name: Name): string {
  return `/estatico/${VERSIONS[name]}/${name}`;
}

const KEPT = 'public, max-age=31536000, immutable';

export const ASSET_ROUTES: readonly HttpRoute[] = Object.entries(ASSETS).map(([name, { type, text }]) => ({
  method: 'GET',
  path: assetPath(name as Name),
  handle: async (request) =>
    (await answerReady(request, assetPath(name as Name), () => text, { 'Content-Type': type }, KEPT))!,
}));
