/** Signature wrapping of every known kind, and other changes to an XML signature without its key. */

import { DSIG } from '../../support/signatures.ts';
import type { Ataque, Corpus, Parte } from '../ataque.ts';
import { makeMundo, type Pedacos, signedParts } from './mundo.ts';
import { enganos } from './xml-assinatura-enganos.ts';

const E902 = { aceita: false, status: [422], codigos: ['E902'] } as const;
const TAKEN = { aceita: true, status: [201], codigos: [] } as const;

const emissao = (corpo: Parte): Ataque['entrada'] => ({ para: 'emissao', tipo: 'application/xml', corpo });
const inicio: Parte = { parte: 'inicio' };
const original: Parte = { parte: 'infDPS' };
const assinatura: Parte = { parte: 'assinatura' };
const fim: Parte = { parte: 'fim' };

/** Content before the end tag of a part. */
const inside = (parte: string, end: string, what: Parte): Parte[] => [{ parte: `${parte}-aberta` }, what, end];

type Embrulho = readonly [nome: string, how: string, corpo: (falsa: Parte, aberta: Parte) => Parte];

const inObject = (what: Parte): Parte =>
  inside('assinatura', '</Signature>', [`<Object xmlns="${DSIG}">`, what, '</Object>']);
const inEvil = (aberta: Parte, what: Parte): Parte => [aberta, what, '</infDPS>'];

/** Places for the signed original, while another element stands in its place. */
const EMBRULHOS: readonly Embrulho[] = [
  [
    'original-inteiro-em-object',
    'o documento original inteiro vai para um Object dentro da Signature',
    (falsa) => [
      inicio,
      falsa,
      inObject([{ parte: 'inicio', trocas: [['<?xml version="1.0" encoding="UTF-8"?>', '']] }, original, fim]),
      fim,
    ],
  ],
  [
    'original-inteiro-ao-lado',
    'o documento original inteiro vai para o lado da Signature',
    (falsa) => [
      inicio,
      falsa,
      { parte: 'inicio', trocas: [['<?xml version="1.0" encoding="UTF-8"?>', '']] },
      original,
      fim,
      assinatura,
      fim,
    ],
  ],
  [
    'falso-antes-do-original',
    'o elemento falso vem antes do original',
    (falsa) => [inicio, falsa, original, assinatura, fim],
  ],
  [
    'falso-depois-do-original',
    'o elemento falso vem logo depois do original',
    (falsa) => [inicio, original, falsa, assinatura, fim],
  ],
  [
    'original-dentro-do-falso',
    'o original vai para dentro do elemento falso',
    (_, aberta) => [inicio, inEvil(aberta, original), assinatura, fim],
  ],
  [
    'assinatura-dentro-do-falso',
    'a Signature vai para dentro do elemento falso, e o original fica atrás',
    (_, aberta) => [inicio, inEvil(aberta, assinatura), original, fim],
  ],
  [
    'tudo-dentro-do-falso',
    'o original vai para dentro da Signature, e ela para dentro do elemento falso',
    (_, aberta) => [inicio, inEvil(aberta, inObject(original)), fim],
  ],
  [
    'original-em-extensions',
    'o original vai para um elemento que ninguém lê, antes do falso',
    (falsa) => [inicio, '<Extensions>', original, '</Extensions>', falsa, assinatura, fim],
  ],
  [
    'original-em-object',
    'o original vai para um Object da Signature, e o falso fica no lugar dele',
    (falsa) => [inicio, falsa, inObject(original), fim],
  ],
  [
    'falso-por-ultimo',
    'o elemento falso vem por último, atrás da Signature',
    (falsa) => [inicio, original, assinatura, falsa, fim],
  ],
];

type Identidade = readonly [nome: string, how: string, troca: (id: string) => readonly [string, string]];

/** The Id of the false element. */
const IDENTIDADES: readonly Identidade[] = [
  ['mesmo-id', 'o mesmo Id', (id) => [` Id="${id}"`, ` Id="${id}"`]],
  ['outro-id', 'outro Id', (id) => [` Id="${id}"`, ` Id="${id.slice(0, -1)}9"`]],
  ['sem-id', 'nenhum Id', (id) => [` Id="${id}"`, '']],
  ['id-minusculo', 'o mesmo valor em id', (id) => [` Id="${id}"`, ` id="${id}"`]],
  ['id-maiusculo', 'o mesmo valor em ID', (id) => [` Id="${id}"`, ` ID="${id}"`]],
  ['xml-id', 'o mesmo valor em xml:id', (id) => [` Id="${id}"`, ` xml:id="${id}"`]],
  ['id-com-prefixo', 'o mesmo valor em w:Id', (id) => [` Id="${id}"`, ` xmlns:w="urn:w" w:Id="${id}"`]],
  ['dois-ids', 'outro Id, e o original em id', (id) => [` Id="${id}"`, ` Id="${id.slice(0, -1)}9" id="${id}"`]],
];

function embrulhos({ infDPS }: Pedacos): Ataque[] {
  const id = / Id="([^"]*)"/.exec(infDPS)![1]!;
  return EMBRULHOS.flatMap(([nome, how, corpo]) =>
    IDENTIDADES.map(([identidade, called, troca]): Ataque => {
      const trocas: [string, string][] = [['<vServ>1000.00</vServ>', '<vServ>0.01</vServ>'], [...troca(id)]];
      return {
        nome: `${nome}-${identidade}`,
        porque: `Embrulho de assinatura: ${how}, e o falso traz ${called}. Quem confere a assinatura pelo Id e lê o documento pelo lugar aceita um valor que ninguém assinou.`,
        entrada: emissao(corpo({ parte: 'infDPS', trocas }, { parte: 'infDPS-aberta', trocas })),
        veredito: { ...E902, quer: 'Recusar: o que se lê tem de ser, e só, o que a assinatura cobre.' },
      };
    }),
  );
}

export async function makeCorpus(): Promise<Corpus> {
  const { provider, namesake, base } = await makeMundo();
  const honesta = signedParts(1, provider);
  return {
    corpus: 'xml-assinatura',
    titulo: 'Assinatura XML: embrulhos e enganos',
    sobre:
      'Uma DPS assinada por quem pode, rearranjada de modo que a assinatura ainda confira para quem a procura pelo Id, e o documento diga outra coisa para quem o lê.',
    ...base,
    partes: {
      ...honesta,
      'infDPS-aberta': honesta.infDPS.replace(/<\/infDPS>$/, ''),
      'assinatura-aberta': honesta.assinatura.replace(/<\/Signature>$/, ''),
    },
    casos: [
      ...embrulhos(honesta),
      {
        nome: 'honesta',
        porque: 'Sem um documento que se aceita nenhuma recusa prova nada.',
        entrada: emissao([inicio, original, assinatura, fim]),
        veredito: { ...TAKEN, quer: 'Aceitar: nada foi mudado.' },
      },
      ...enganos(provider, namesake),
    ],
  };
}
