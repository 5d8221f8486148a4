/** Search entries besides the sections of the pages: error codes, operations of the reference, elements of the layout. */
import { ERRORS } from '../../fiscal/errors.ts';
import { DPS, INF_NFSE_OWN, NFSE } from '../../fiscal/layout/nfse.ts';
import { campoOf } from '../../fiscal/layout/plan-corpo.ts';
import { elementsOf, type Group, joinPath } from '../../fiscal/layout/vocabulary.ts';
import { placesOf, xpathOf } from '../errors/page.ts';
import { contentOf } from '../layout/elements.ts';
import { openapiText } from '../openapi/openapi.ts';
import { CONFERIR_PATH, ENSAIO_PATH, ERROS_PATH, MIGRAR_PATH, REFERENCE_PATH } from '../paths.ts';
import { BESIDE } from './frame.ts';
import type { Section } from './render-markdown.ts';
import type { Entry } from './search-index.ts';

export function codeEntries(): readonly Entry[] {
  return ERRORS.map((error) => {
    const { codigo, mensagem, significado, comoResolver, nacional = '', regras } = error;
    const places = placesOf(error).flatMap(({ path, campo = '' }) => [path, campo]);
    return {
      kind: 'codigo',
      title: `${codigo} ${mensagem}`,
      path: `${ERROS_PATH}/${codigo}`,
      text: `${significado} ${comoResolver}`,
      beside: [nacional, ...regras.flatMap(({ title = '', why }) => [title, why]), ...places].join(' '),
      // `310`, `E310` and `0310` are E0310 as well.
      names: [codigo, codigo.slice(1), codigo.replace(/^E0+/, 'E'), codigo.replace(/^E0*/, '')],
    };
  });
}

/** The tool pages, which no file of `docs/site` describes. */
export function toolEntries(): readonly Entry[] {
  return [
    {
      kind: 'pagina',
      title: 'Um ambiente só seu',
      path: ENSAIO_PATH,
      text: aboutOf(ENSAIO_PATH),
      alias: 'sandbox homologação personas ensaio',
      names: ['ambiente', 'um ambiente só seu', 'sandbox', 'homologação', 'personas'],
    },
    {
      kind: 'pagina',
      title: 'Conferir um documento',
      path: CONFERIR_PATH,
      text: aboutOf(CONFERIR_PATH),
      names: ['conferir', 'conferir um documento'],
    },
    {
      kind: 'pagina',
      title: 'Vir da API nacional',
      path: MIGRAR_PATH,
      text: aboutOf(MIGRAR_PATH),
      names: ['migrar', 'vir da api nacional'],
    },
  ];
}

function aboutOf(path: string): string {
  return BESIDE.find((one) => one.path === path)!.about;
}

type Described = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId?: string;
            readonly summary?: string;
            readonly description?: string;
            readonly tags?: readonly string[];
          }
        >
      >
    >
  >;
};

/** The operations of the public description, each at its address in the reference. */
export function operationEntries(): readonly Entry[] {
  const { paths } = JSON.parse(openapiText('')) as Described;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): readonly Entry[] => {
      const { operationId, summary = '', description = '', tags = [] } = operation;
      const [tag] = tags;
      if (operationId === undefined || tag === undefined) return [];
      const title = `${method.toUpperCase()} ${path}`;
      return [
        {
          kind: 'operacao',
          title: summary,
          path: `${REFERENCE_PATH}#/${encodeURIComponent(tag)}/${operationId}`,
          text: `${title}. ${description}`,
          beside: `${operationId} ${tag}`,
          names: [operationId, path, title, summary],
        },
      ];
    }),
  );
}

/** The elements of the layout, each in the section of its group. `sections`: those of the page of the layout, at `page`. */
export function fieldEntries(page: string, sections: readonly Section[]): readonly Entry[] {
  const dps = walkGroup(DPS.items[0], 'infDPS', '', new Map());
  const nfse = walkGroup({ ...NFSE.items[0], items: INF_NFSE_OWN }, 'infNFSe', 'infNFSe', new Map());
  return [...dps, ...nfse].map(({ section, name, path, doc, isGroup }) => {
    // The body has another shape: a group of the document has no name of its own in it.
    const campo = isGroup ? undefined : campoOf(xpathOf(path.startsWith('infNFSe/') ? `NFSe/${path}` : path));
    const place = sections.find(({ text }) => text === section);
    return {
      kind: 'campo',
      title: path,
      path: place === undefined ? page : `${page}#${place.id}`,
      text: campo === undefined ? `${doc}.` : `${doc}. Em JSON: ${campo}.`,
      names: campo === undefined ? [name, path] : [name, path, campo],
    };
  });
}

type Walked = {
  readonly section: string;
  readonly name: string;
  readonly path: string;
  readonly doc: string;
  readonly isGroup: boolean;
};

/** Groups of the same content share the section of the first of them. */
function walkGroup(group: Group, title: string, above: string, sections: Map<string, string>): readonly Walked[] {
  const section = sections.getOrInsert(contentOf(group.items), title);
  return elementsOf(group.items).flatMap((item) => {
    const path = joinPath(above, item.name);
    const own = { section, name: item.name, path, doc: item.doc, isGroup: item.kind === 'group' };
    return item.kind === 'group' ? [own, ...walkGroup(item, path, path, sections)] : [own];
  });
}
