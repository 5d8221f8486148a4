/**
 * The reader, the writer and the generated schemas agree on documents built from the tables. The documents have every element, every type,
 * and every single mistake in them. `layout-samples.ts` has the valid and invalid values, written by hand.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { xsdErrors } from '../src/documents/xml.ts';
import { type Dps, INF_DPS } from '../src/fiscal/layout/dps.ts';
import { DPS, type DpsNacional, INF_NFSE_OWN, type InfNfse, NFSE } from '../src/fiscal/layout/nfse.ts';
import { normaliseDps } from '../src/fiscal/layout/normalise.ts';
import type { SimpleType } from '../src/fiscal/layout/simple-types.ts';
import { type Group, type Item, isRequiredOfSender, type Leaf } from '../src/fiscal/layout/vocabulary.ts';
import { withSignature, writeDps, writeNfse } from '../src/fiscal/layout/write.ts';
import { SMALLEST_DPS } from '../src/published/layout/smallest.ts';
import { dpsXsd, nfseXsd } from '../src/published/layout/xsd.ts';
import {
  DPS_ID,
  dpsOf,
  dpsText,
  type Edit,
  escaped,
  flat,
  grow,
  isSent,
  MAXIMAL,
  maximal,
  type Node,
  objectOf,
  PLACES,
  read,
  render,
} from './support/layout-documents.ts';
import { samplesOf } from './support/layout-samples.ts';
import fc from './support/seed.ts';

const DPS_XSD = dpsXsd();
const NFSE_XSD = nfseXsd();
const NFSE_ID = 'NFS35503081211222333000181000000000004226101234567890';
const SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo><Reference URI="#x"/></SignedInfo><SignatureValue>AA==</SignatureValue></Signature>';

// The two judges.

function schemaFindings(xml: string): string[] {
  return xsdErrors(DPS_XSD, Buffer.from(xml));
}

function bothAccept(xml: string, what: string): void {
  const reading = read(xml);
  assert.deepEqual('faults' in reading ? reading.faults : [], [], `${what}: the reader refuses`);
  assert.deepEqual(schemaFindings(xml), [], `${what}: the schema refuses`);
}

/** The place of the reader's fault must be the place of the mistake, or an ancestor of it. */
function bothRefuse(xml: string, what: string, xpath: string): void {
  const reading = read(xml);
  assert.ok('faults' in reading, `${what}: the reader accepts`);
  for (const fault of reading.faults) {
    assert.ok(fault.xpath.startsWith(`/DPS/infDPS${xpath}`), `${what}: a fault at ${fault.xpath}: ${fault.mensagem}`);
  }
  assert.notDeepEqual(schemaFindings(xml), [], `${what}: the schema accepts`);
}

function bothSay(accepted: boolean, xml: string, what: string, xpath: string): void {
  if (accepted) bothAccept(xml, what);
  else bothRefuse(xml, what, xpath);
}

function isRequired({ item, choice }: Node): boolean {
  return choice === undefined ? isRequiredOfSender(item) : choice.min === 1;
}

function siblingsOf(node: Node, document: readonly Node[]): readonly Node[] {
  return node.parent === undefined ? document : node.parent.inside;
}

function above(node: Node): string {
  return node.parent?.xpath ?? '';
}

const EXAMPLE = `<?xml version="1.0" encoding="UTF-8"?>
<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">
  <infDPS Id="DPS355030821122233300018170000000000000000042">
    <tpAmb>2</tpAmb>
    <!-- dhEmi: o serviço escreve -->
    <verAplic>ERP-3.2</verAplic>
    <serie>70000</serie>
    <nDPS>42</nDPS>
    <dCompet>2026-10-05</dCompet>
    <tpEmit>1</tpEmit>
    <cLocEmi>3550308</cLocEmi>
    <prest>
      <CNPJ>11222333000181</CNPJ>
      <IM>123456</IM>
      <regTrib><opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib>
    </prest>
    <toma>
      <CPF>52998224725</CPF>
      <xNome>Maria Exemplo</xNome>
    </toma>
    <serv>
      <locPrest><cLocPrestacao>3550308</cLocPrestacao></locPrest>
      <cServ>
        <cTribNac>010101</cTribNac>
        <xDescServ>Desenvolvimento de sistema</xDescServ>
        <cNBS>115021000</cNBS>
      </cServ>
    </serv>
    <valores>
      <vServPrest><vServ>1000.00</vServ></vServPrest>
      <trib>
        <tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN><pAliq>2.00</pAliq></tribMun>
        <totTrib><indTotTrib>0</indTotTrib></totTrib>
      </trib>
    </valores>
    <IBSCBS>
      <finNFSe>0</finNFSe>
      <cIndOp>100301</cIndOp>
      <indDest>0</indDest>
      <valores><trib><gIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores>
    </IBSCBS>
  </infDPS>
  ${SIGNATURE}
</DPS>`;

test('the example, the smallest document and every maximal one are accepted', () => {
  bothAccept(SMALLEST_DPS, 'the smallest');
  bothAccept(EXAMPLE, 'the example');
  MAXIMAL.forEach((document, place) => {
    bothAccept(dpsOf(document), `maximal ${place}`);
  });
});

test('every type takes its right values and no wrong one', () => {
  const seen = new Set<SimpleType>();
  for (const { document, node } of PLACES) {
    if (node.item.kind === 'group' || seen.has(node.item.type)) continue;
    seen.add(node.item.type);
    const { good, onlyRead = [], bad } = samplesOf(node.item);
    const put = (value: string): string =>
      dpsOf(document, new Map([[node, () => `<${node.item.name}>${escaped(value)}</${node.item.name}>`]]));
    for (const value of [...good, ...onlyRead]) bothAccept(put(value), `${node.path} = ${JSON.stringify(value)}`);
    for (const value of bad) bothRefuse(put(value), `${node.path} = ${JSON.stringify(value)}`, node.xpath);
  }
});

test('every value is checked where it stands', () => {
  for (const { document, node } of PLACES) {
    if (node.item.kind === 'group') continue;
    const [wrong] = samplesOf(node.item).bad;
    const edit = new Map([[node, () => `<${node.item.name}>${escaped(wrong!)}</${node.item.name}>`]]);
    bothRefuse(dpsOf(document, edit), `${node.path} = ${JSON.stringify(wrong)}`, node.xpath);
  }
});

test('an element that is left out is missed when it is required, and only then', () => {
  for (const { document, node } of PLACES) {
    const twins = siblingsOf(node, document).filter(({ item }) => item === node.item);
    const edit = new Map(twins.map((twin) => [twin, () => '']));
    bothSay(!isRequired(node), dpsOf(document, edit), `without ${node.path}`, above(node));
  }
});

test('an element stands once, unless it is one that repeats', () => {
  for (const { document, node } of PLACES) {
    const edit = new Map([[node, (own: string) => own + own]]);
    bothSay(node.item.max > 1, dpsOf(document, edit), `${node.path} twice`, `${node.xpath.replace(/\[\d+\]$/, '')}[2]`);
  }
});

test('no more copies than the layout has room for', () => {
  for (const { document, node } of PLACES.filter(({ node: { item } }) => item.max > 1)) {
    const others = siblingsOf(node, document).filter((other) => other.item === node.item).length - 1;
    const times = (count: number): string =>
      dpsOf(document, new Map([[node, (own: string) => own.repeat(count - others)]]));
    bothAccept(times(node.item.max), `${node.path} ${node.item.max} times`);
    bothRefuse(times(node.item.max + 1), `${node.path} ${node.item.max + 1} times`, above(node));
  }
});

/** Neighbours that the reader accepts in either order; the schema knows the first two only (decided in D-12). */
const EITHER_ORDER = ['vDescCondIncond vDedRed', 'inscImobFisc'];
const READER_ALONE = ['vServPrest vDescCondIncond', 'vDedRed trib'];

test('neighbours stand in the order of the layout', () => {
  for (const { document, node } of PLACES) {
    const siblings = siblingsOf(node, document);
    const next = siblings[siblings.indexOf(node) + 1];
    if (next === undefined || next.item === node.item) continue;
    const names = `${node.item.name} ${next.item.name}`;
    const swapped = dpsOf(
      document,
      new Map([
        [node, () => render(next)],
        [next, () => render(node)],
      ]),
    );
    const either = EITHER_ORDER.some((pair) => names.startsWith(pair)) && node.item.anywhere === true;
    if (READER_ALONE.includes(names) && node.path.startsWith('valores/') && node.parent?.path === 'valores') {
      assert.ok('dps' in read(swapped), `${names}: the reader takes it anywhere`);
      assert.notDeepEqual(schemaFindings(swapped), [], names);
    } else bothSay(either, swapped, `${node.path} after ${next.item.name}`, above(node));
  }
});

test('nothing is taken that the layout does not have', () => {
  for (const { document, node } of PLACES) {
    const { name } = node.item;
    const wrong: Record<string, (own: string) => string> = {
      'an attribute': (own) => own.replace(`<${name}`, `<${name} lingua="pt"`),
      'another namespace': (own) => own.replace(`<${name}`, `<${name} xmlns="urn:outro"`),
      'text beside elements': (own) => own.replace(`</${name}>`, `solto</${name}>`),
      'an unknown element': (own) => own.replace(new RegExp(`</${name}>$`), `<zzInventado>1</zzInventado></${name}>`),
    };
    if (node.item.kind === 'leaf') delete wrong['text beside elements'];
    for (const [what, spoil] of Object.entries(wrong)) {
      const place = node.xpath.replace(/\[\d+\]$/, '');
      bothRefuse(dpsOf(document, new Map([[node, spoil]])), `${node.path} with ${what}`, place);
    }
  }
});

test('an empty element is not taken, nor an empty group (D-34)', () => {
  for (const { document, node } of PLACES) {
    const xml = dpsOf(document, new Map([[node, () => `<${node.item.name}/>`]]));
    if (node.path === 'prest/xNome') {
      assert.ok('dps' in read(xml), 'left to E101, which says more (decided in D-34)');
      assert.notDeepEqual(schemaFindings(xml), []);
      continue;
    }
    bothRefuse(xml, `empty ${node.path}`, node.xpath);
  }
});

test('the second spelling of a name is read, in the place of the first and not beside it', () => {
  for (const [name, alias] of [
    ['IBSCBS', 'ibscbs'],
    ['BM', 'bM'],
  ] as const) {
    const { document, node } = PLACES.find((place) => place.node.item.name === name)!;
    const respelt = (own: string): string =>
      own.replace(`<${name}>`, `<${alias}>`).replace(new RegExp(`</${name}>$`), `</${alias}>`);
    bothAccept(dpsOf(document, new Map([[node, respelt]])), alias);
    const both = dpsOf(document, new Map([[node, (own: string) => own + respelt(own)]]));
    bothRefuse(both, `${name} and ${alias}`, `${node.xpath}[2]`);
  }
});

test('the declared order of choices: two members of one are refused', () => {
  for (const { document, node } of PLACES) {
    if (node.choice === undefined) continue;
    const other = node.choice.items.find((member) => member !== node.item)!;
    const beside = MAXIMAL.flatMap(flat).find(
      ({ item, parent }) => item === other && parent?.item === node.parent?.item,
    )!;
    const [first, second] =
      node.choice.items.indexOf(node.item) < node.choice.items.indexOf(other) ? [node, beside] : [beside, node];
    const edit = new Map([[node, () => render(first) + render(second)]]);
    bothRefuse(dpsOf(document, edit), `${first.path} and ${second.item.name}`, above(node));
  }
});

test('dhEmi, the note fields and the tags of other layouts are refused', () => {
  for (const [place, tag] of [
    ['tpAmb', '<dhEmi>2026-10-05T10:15:30-03:00</dhEmi>'],
    ['valores/trib/tribMun/pAliq', '<vISSQN>10.00</vISSQN>'],
    ['serv/infoCompl/docRef', '<xPed>1</xPed>'],
    ['serv/infoCompl/docRef', '<gItemPed><xItemPed>1</xItemPed></gItemPed>'],
    ['serv/comExt', '<lsadppu/>'],
    ['serv/locPrest', '<cMunInc>3550308</cMunInc>'],
  ] as const) {
    const { document, node } = PLACES.find((one) => one.node.path === place)!;
    const xml = dpsOf(document, new Map([[node, (own: string) => own + tag]]));
    const reading = read(xml);
    assert.ok('faults' in reading, tag);
    assert.deepEqual(
      reading.faults.map(({ codigo }) => codigo),
      ['E0010'],
      tag,
    );
    assert.notDeepEqual(schemaFindings(xml), [], tag);
  }
});

test('what only the reader knows: check digits', () => {
  for (const [path, value] of [
    ['toma/CPF', '52998224724'],
    ['toma/CNPJ', '11222333000180'],
  ] as const) {
    const { document, node } = PLACES.find((one) => one.node.path === path)!;
    const xml = dpsOf(document, new Map([[node, () => `<${node.item.name}>${value}</${node.item.name}>`]]));
    const reading = read(xml);
    assert.deepEqual('faults' in reading && reading.faults.map(({ codigo, xpath }) => [codigo, xpath]), [
      ['E0003', `/DPS/infDPS${node.xpath}`],
    ]);
    assert.deepEqual(schemaFindings(xml), [], path);
  }
});

test('what is left to other steps: the version, the place of the signature, free attributes of instances', () => {
  const inside = MAXIMAL[0]!.map((node) => render(node)).join('');
  const old = dpsText(inside).replace('versao="1.01"', 'versao="1.00"');
  const before = dpsText(inside).replace('<infDPS', `${SIGNATURE}<infDPS`);
  for (const xml of [old, before]) {
    assert.ok('dps' in read(xml));
    assert.notDeepEqual(schemaFindings(xml), []);
  }
  const located = dpsText(inside, SIGNATURE).replace(
    '<DPS ',
    '<DPS xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.sped.fazenda.gov.br/nfse DPS_v1.01.xsd" ',
  );
  bothAccept(located, 'a schema location');
  const prefixed = dpsText(inside)
    .replace('xmlns=', 'xmlns:n=')
    .replaceAll(/<(\/?)(\w)/g, '<$1n:$2');
  bothAccept(prefixed, 'prefixed names');
});

test('the identifier of infDPS is DPS and digits, with letters only where a CNPJ has them', () => {
  const inside = MAXIMAL[0]!.map((node) => render(node)).join('');
  const identified = (id: string): string => dpsText(inside).replace(DPS_ID, id);
  for (const id of ['DPS1', DPS_ID, 'DPS35503082' + '12ABC34501DE35' + '70000000000000000042']) {
    bothAccept(identified(id), id);
  }
  for (const id of ['', 'DPS', '42', 'dps42', 'DPS 42', 'DPS42A', `DPS${'1'.repeat(61)}`]) {
    bothRefuse(identified(id), id, '/@Id');
  }
});

// The output of our writer.

const FILLED = {
  tpAmb: '2',
  dhEmi: '2026-10-05T10:15:30-03:00',
  serie: '70000',
  nDPS: '42',
  cIndOp: '100301',
} as const;

/** Nodes as our writer writes them: always two decimals, and no empty group. */
function written(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      const { item } = node;
      if (item.kind === 'group') {
        const inside = written(node.inside);
        return inside === '' ? '' : `<${item.name}>${inside}</${item.name}>`;
      }
      const plain = item.type.kind === 'decimal' && !node.text.includes('.') ? `${node.text}.00` : node.text;
      return `<${item.name}>${escaped(plain)}</${item.name}>`;
    })
    .join('');
}

/** A random document, with the mandatory parts of the national layout. */
function chance(items: readonly Item[], g: fc.GeneratorValue): Node[] {
  return grow(items, undefined, '', '', {
    includes: (item) => item.min === 1 || item.sent === 'required' || (isSent(item) && g(fc.boolean)),
    member: (choice) => {
      const members = choice.min === 1 ? choice.items : [...choice.items, undefined];
      return oneOf<Leaf | Group | undefined>(members, g);
    },
    copies: () => g(fc.integer, { min: 1, max: 3 }),
    value: (leaf) => oneOf(samplesOf(leaf).good, g),
  });
}

function oneOf<V>(values: readonly V[], g: fc.GeneratorValue): V {
  return values[g(fc.integer, { min: 0, max: values.length - 1 })]!;
}

const withoutDhEmi = (xml: string): string => xml.replace(/<dhEmi>[^<]*<\/dhEmi>/, '');

test('what is written is what was grown, reads back as what it was, and is valid', () => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const dpsNodes = chance(INF_DPS, g);
      const nfseNodes = chance(INF_NFSE_OWN, g);
      const dps = objectOf(dpsNodes) as DpsNacional;
      const infNfse = objectOf(nfseNodes) as InfNfse;

      const xml = writeDps(dps, DPS_ID);
      assert.equal(xml, dpsText(written(dpsNodes)));
      const nfse = writeNfse(infNfse, NFSE_ID, dps, DPS_ID);
      assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(nfse)), []);
      assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(withSignature(nfse, SIGNATURE))), []);

      const sent = withoutDhEmi(xml);
      bothAccept(sent, 'what was written');
      const again = read(sent) as { readonly dps: Dps };
      assert.equal(writeDps({ ...again.dps, dhEmi: dps.dhEmi } as DpsNacional, DPS_ID), xml);
    }),
    { numRuns: 150 },
  );
});

test('a received DPS becomes one that the national schema takes', () => {
  const infNfse = objectOf(maximal(INF_NFSE_OWN, () => true)[0]!) as InfNfse;
  for (const text of [SMALLEST_DPS, EXAMPLE, ...MAXIMAL.map((document) => dpsOf(document))]) {
    const reading = read(text);
    assert.ok('dps' in reading);
    const dps = normaliseDps(reading.dps, FILLED);
    assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(writeNfse(infNfse, NFSE_ID, dps, DPS_ID))), []);
    const again = read(withoutDhEmi(writeDps(dps, DPS_ID)));
    assert.deepEqual('dps' in again && { ...again.dps, dhEmi: FILLED.dhEmi }, dps);
  }
});

test('the other spellings come out in the national one', () => {
  for (const [path, sent, expected] of [
    ['serv/comExt/mecAFComexP', '8', '08'],
    ['serv/comExt/mecAFComexT', '9', '09'],
    ['valores/trib/tribMun/exigSusp/nProcesso', '12345678920268260100', '000000000012345678920268260100'],
    ['valores/vServPrest/vServ', '1000', '1000.00'],
  ] as const) {
    const { document, node } = PLACES.find((one) => one.node.path === path)!;
    const { name } = node.item;
    const reading = read(dpsOf(document, new Map([[node, () => `<${name}>${sent}</${name}>`]])));
    assert.ok('dps' in reading);
    const text = writeDps(normaliseDps(reading.dps, FILLED), DPS_ID);
    assert.equal(new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1], expected);
  }
  const { document, node } = PLACES.find((one) => one.node.path === 'IBSCBS')!;
  const respelt = (own: string): string => own.replace('<IBSCBS>', '<ibscbs>').replace('</IBSCBS>', '</ibscbs>');
  const reading = read(dpsOf(document, new Map([[node, respelt]])));
  assert.ok('dps' in reading);
  assert.match(writeDps(normaliseDps(reading.dps, FILLED), DPS_ID), /<IBSCBS>.*<\/IBSCBS><\/infDPS>/s);
});

test('the schema of the note refuses what is not national', () => {
  const dps = { ...(objectOf(grownNational(INF_DPS)) as DpsNacional) };
  const infNfse = objectOf(grownNational(INF_NFSE_OWN)) as InfNfse;
  const nfse = writeNfse(infNfse, NFSE_ID, dps, DPS_ID);
  const findings = (from: string | RegExp, to: string): string[] => {
    assert.notEqual(nfse.replace(from, to), nfse, `nothing to replace: ${from}`);
    return xsdErrors(NFSE_XSD, Buffer.from(nfse.replace(from, to)));
  };
  assert.deepEqual(xsdErrors(NFSE_XSD, Buffer.from(nfse)), []);
  for (const [from, to] of [
    [/<dhEmi>.*?<\/dhEmi>/, ''],
    [/<serie>.*?<\/serie>/, ''],
    [/<mdic>.*?<\/mdic>/, ''],
    [/<nBM>.*?<\/nBM>/, ''],
    [/<cIndOp>.*?<\/cIndOp>/, ''],
    ['<mecAFComexP>01', '<mecAFComexP>1'],
    [/<serie>[^<]*/, '<serie>90000'],
    [/<pAliq>[^<]*/, '<pAliq>10.00'],
    [/<pAliqPis>[^<]*/, '<pAliqPis>100.00'],
    [/<nProcesso>[^<]*/, '<nProcesso>12345678920268260100'],
    [/<(\/?)BM>/g, '<$1bM>'],
    [`Id="${DPS_ID}"`, 'Id="DPS42"'],
    [`Id="${NFSE_ID}"`, `Id="${DPS_ID}"`],
    [/<emit>.*?<\/emit>/, ''],
    [/<vLiq>.*?<\/vLiq>/, ''],
    [/<DPS .*<\/DPS>/, ''],
    [/<cStat>[^<]*/, '<cStat>101'],
    ['versao="1.01"', 'versao="1.00"'],
  ] as const) {
    assert.notDeepEqual(findings(from, to), [], `${from}`);
  }
  // The national layout allows a note without a code of the Brazilian service list, which a sender must give.
  assert.deepEqual(findings(/<cNBS>.*?<\/cNBS>/, ''), []);
});

/** One document with all elements, the first of each choice. */
function grownNational(items: readonly Item[]): Node[] {
  return grow(items, undefined, '', '', {
    includes: () => true,
    member: (choice) => choice.items[0],
    copies: () => 1,
    value: (leaf) => samplesOf(leaf).good[0]!,
  });
}

test('every element of the note is held to its occurrence and type', () => {
  const documents = maximal(INF_NFSE_OWN, () => true);
  const declaration = `<DPS versao="1.01"><infDPS Id="${DPS_ID}">${written(grownNational(INF_DPS))}</infDPS></DPS>`;
  const findings = (nodes: readonly Node[], edit?: Edit): string[] => {
    const inside = nodes.map((node) => render(node, edit)).join('');
    const head = '<NFSe xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">';
    return xsdErrors(NFSE_XSD, Buffer.from(`${head}<infNFSe Id="${NFSE_ID}">${inside}${declaration}</infNFSe></NFSe>`));
  };
  for (const document of documents) {
    assert.deepEqual(findings(document), []);
    for (const node of flat(document)) {
      const { name } = node.item;
      const required = node.choice === undefined ? node.item.min === 1 : node.choice.min === 1;
      assert.equal(findings(document, new Map([[node, () => '']])).length > 0, required, `without ${node.path}`);
      assert.notDeepEqual(findings(document, new Map([[node, (own) => own + own]])), [], `${node.path} twice`);
      if (node.item.kind === 'group') continue;
      const put = (value: string): string[] =>
        findings(document, new Map([[node, () => `<${name}>${escaped(value)}</${name}>`]]));
      for (const value of samplesOf(node.item).good) assert.deepEqual(put(value), [], `${node.path} = ${value}`);
      for (const value of samplesOf(node.item).bad) assert.notDeepEqual(put(value), [], `${node.path} = ${value}`);
    }
  }
});

test('the outer elements are the ones of the schemas', () => {
  for (const [xsd, { name }] of [
    [DPS_XSD, DPS],
    [NFSE_XSD, NFSE],
  ] as const) {
    assert.match(xsd, new RegExp(`<xs:element name="${name}" type="TC${name}">`));
    const other = `<Outro xmlns="http://www.sped.fazenda.gov.br/nfse"/>`;
    assert.notDeepEqual(xsdErrors(xsd, Buffer.from(other)), []);
  }
});

test('a document that is not XML is a finding, a schema that is none is our own fault', () => {
  assert.deepEqual(xsdErrors(DPS_XSD, Buffer.from('<DPS>')), ['1: Premature end of data in tag DPS line 1']);
  const broken =
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a" type="none"/></xs:schema>';
  assert.throws(() => xsdErrors(broken, Buffer.from('<a/>')));
});

test('more schemas than are kept at a time still work, each as it says', () => {
  const schemaOf = (name: string): string =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="${name}" type="xs:string"/></xs:schema>`;
  const names = Array.from({ length: 20 }, (_, place) => `e${place}`);
  for (const name of [...names, ...names]) {
    assert.deepEqual(xsdErrors(schemaOf(name), Buffer.from(`<${name}/>`)), []);
    assert.equal(xsdErrors(schemaOf(name), Buffer.from('<outro/>')).length, 1);
  }
});
