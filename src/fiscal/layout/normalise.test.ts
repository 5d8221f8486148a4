import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../decimal.ts';
import type { Dps } from './dps.ts';
import type { DpsNacional } from './nfse.ts';
import { normaliseDps } from './normalise.ts';

const FILLED = { tpAmb: '2', dhEmi: '2026-10-05T10:15:30-03:00', serie: '70000', nDPS: '42' } as const;

/** The minimum that a sender must give, with a group of each kind that is completed here. */
const SENT = {
  tpAmb: '1',
  verAplic: 'ERP-3.2',
  dCompet: '2026-10-05',
  tpEmit: '1',
  cLocEmi: '3550308',
  prest: { CNPJ: '11222333000181', regTrib: { opSimpNac: '1', regEspTrib: '0' } },
  serv: {
    locPrest: { cLocPrestacao: '3550308' },
    cServ: { cTribNac: '010101', xDescServ: 'Desenvolvimento de sistema', cNBS: '115021000' },
  },
  valores: {
    vServPrest: { vServ: decimal('1000.00') },
    trib: { tribMun: { tribISSQN: '1', tpRetISSQN: '1' }, totTrib: { indTotTrib: '0' } },
  },
} as const satisfies Dps;

const COM_EXT = {
  mdPrestacao: '1',
  vincPrest: '6',
  tpMoeda: '220',
  vServMoeda: decimal('200.00'),
  mecAFComexP: '01',
  mecAFComexT: '01',
  movTempBens: '1',
} as const;

const IBSCBS = { valores: { trib: { gIBSCBS: { CST: '000', cClassTrib: '000001' } } } } as const;

const END = { endNac: { cMun: '3550308', CEP: '01001000' }, xLgr: 'Rua A', nro: '10', xBairro: 'Centro' } as const;

test('environment, moment, series and number are the ones of the service, whatever was sent', () => {
  const sent: Dps = { ...SENT, serie: '1', nDPS: '7' };
  const expected: DpsNacional = { ...SENT, ...FILLED };
  assert.deepEqual(normaliseDps(SENT, FILLED), expected);
  assert.deepEqual(normaliseDps(sent, FILLED), expected);
});

test('the national form requires what the sender may leave out, and the compiler knows it', () => {
  // @ts-expect-error dhEmi, serie and nDPS are missing
  const incomplete: DpsNacional = SENT;
  const { cNBS: _nbs, ...cServ } = SENT.serv.cServ;
  const withoutNbs: DpsNacional = { ...SENT, ...FILLED, serv: { ...SENT.serv, cServ } };
  // @ts-expect-error a sender must give cNBS
  const refused: Dps = withoutNbs;
  assert.deepEqual([incomplete.dhEmi, refused.serv.cServ.cNBS], [undefined, undefined]);
});

test('name and address of a provider who issues are left to emit; what else prest says stays', () => {
  const prest = { ...SENT.prest, IM: '123456', xNome: '', end: END, fone: '1133334444' };
  const normalised = normaliseDps({ ...SENT, prest }, FILLED);
  assert.deepEqual(normalised.prest, { ...SENT.prest, IM: '123456', fone: '1133334444' });
});

test('a provider abroad keeps name and address in the note of the taker', () => {
  const prest = { NIF: 'X1', xNome: 'Foreign Ltd', end: END, regTrib: SENT.prest.regTrib };
  assert.equal(normaliseDps({ ...SENT, tpEmit: '2', prest }, FILLED).prest, prest);
});

test('foreign trade says 0 to the ministry when it says nothing', () => {
  const mdic = (comExt: NonNullable<Dps['serv']['comExt']>): string | undefined =>
    normaliseDps({ ...SENT, serv: { ...SENT.serv, comExt } }, FILLED).serv.comExt?.mdic;
  assert.equal(mdic(COM_EXT), '0');
  assert.equal(mdic({ ...COM_EXT, mdic: '1' }), '1');
  assert.equal(normaliseDps(SENT, FILLED).serv.comExt, undefined);
});

test('IBS/CBS is completed: regular note, recipient, operation indicator', () => {
  const ibscbs = (group: NonNullable<Dps['IBSCBS']>, cIndOp?: string): DpsNacional['IBSCBS'] =>
    normaliseDps({ ...SENT, IBSCBS: group }, { ...FILLED, cIndOp }).IBSCBS;
  const dest = { CPF: '52998224725', xNome: 'Maria Exemplo' };
  assert.deepEqual(ibscbs(IBSCBS, '100301'), { ...IBSCBS, finNFSe: '0', indDest: '0', cIndOp: '100301' });
  assert.deepEqual(ibscbs({ ...IBSCBS, dest }, '100301'), {
    ...IBSCBS,
    dest,
    finNFSe: '0',
    indDest: '1',
    cIndOp: '100301',
  });
  assert.deepEqual(ibscbs({ ...IBSCBS, cIndOp: '030101', indDest: '0', dest }, '100301'), {
    ...IBSCBS,
    dest,
    finNFSe: '0',
    indDest: '0',
    cIndOp: '030101',
  });
  assert.deepEqual(ibscbs(IBSCBS), { ...IBSCBS, finNFSe: '0', indDest: '0' });
  assert.equal(normaliseDps(SENT, { ...FILLED, cIndOp: '100301' }).IBSCBS, undefined);
});

test('what does not change is shared, and what was sent is left as it was', () => {
  const IBSCBS_COMPLETE = { ...IBSCBS, finNFSe: '0', indDest: '0', cIndOp: '100301' } as const;
  const sent: Dps = { ...SENT, IBSCBS: IBSCBS_COMPLETE };
  const before = structuredClone(sent);
  const normalised = normaliseDps(sent, FILLED);
  assert.equal(normalised.prest, sent.prest);
  assert.equal(normalised.serv, sent.serv);
  assert.equal(normalised.valores, sent.valores);
  assert.equal(normalised.IBSCBS, sent.IBSCBS);
  assert.deepEqual(sent, before);
});
