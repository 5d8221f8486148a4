/** Parties abroad with a Brazilian document: the message names the identifier to remove, and its advice leads to an accepted note. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lawOverExample } from '../../../test/support/law.ts';
import { addressInLisboa } from './address.ts';
import { DOCUMENTO } from './ded-red.ts';
import type { Patch } from './rule.ts';
import { COMERCIO_EXTERIOR, TOMADOR_NO_EXTERIOR } from './toma.ts';

const FORNEC = 'valores/vDedRed/documentos/docDedRed/fornec';

/** Each party at an address abroad, without its identifier. */
const PARTIES: readonly (readonly [group: string, path: string, code: string, abroad: Patch])[] = [
  ['toma', 'toma', 'E0193', { ...TOMADOR_NO_EXTERIOR, 'toma/NIF': null }],
  [
    'interm',
    'interm',
    'E0281',
    {
      'interm/xNome': 'Agência de Lisboa',
      ...addressInLisboa('interm/end'),
      'interm/end/endExt/cPais': 'PT',
      ...COMERCIO_EXTERIOR,
    },
  ],
  [
    'fornec',
    FORNEC,
    'E1538',
    {
      ...Object.fromEntries(Object.entries(DOCUMENTO).filter(([path]) => !/fornec\/(?:CNPJ|end\/endNac)/.test(path))),
      ...addressInLisboa(`${FORNEC}/end`),
      [`${FORNEC}/end/endExt/cPais`]: 'PT',
    },
  ],
];

for (const [group, path, code, abroad] of PARTIES) {
  describe(`${group} abroad`, () => {
    for (const [name, document] of [
      ['CPF', '11144477735'],
      ['CNPJ', '11444777000161'],
    ] as const) {
      test(`with a ${name}: it goes, and a NIF or its reason takes its place`, () => {
        const faults = lawOverExample({ ...abroad, [`${path}/${name}`]: document });
        assert.deepEqual(
          faults.map(({ codigo }) => codigo),
          [code],
        );
        const { mensagem } = faults[0]!;
        assert.match(mensagem, new RegExp(`Retire ${group}/${name} e ponha no lugar ${group}/NIF`));
        assert.match(mensagem, new RegExp(`está no Brasil, fica o ${name}, e o endereço vai em endNac`));
        assert.deepEqual(lawOverExample({ ...abroad, [`${path}/NIF`]: 'PT508123456' }), []);
        assert.deepEqual(lawOverExample({ ...abroad, [`${path}/cNaoNIF`]: '0' }), []);
      });

      test(`with a ${name} and a NIF: the structure says which of them stays`, () => {
        const [fault, ...others] = lawOverExample({
          ...abroad,
          [`${path}/${name}`]: document,
          [`${path}/NIF`]: 'PT508123456',
        });
        assert.deepEqual([fault?.codigo, others], [group === 'toma' ? 'E0188' : 'E203', []]);
        assert.match(
          fault!.mensagem,
          /Com endereço no exterior ficam o NIF ou o motivo de não o ter, e saem CNPJ e CPF/,
        );
      });
    }
  });
}
