/**
 * The NFS-e of a judged DPS. Its additions to the declaration come from the facts, the amounts and the assigned numbers. The worker signs
 * it, in production only (D-35).
 */
import { beneficioOf, TIPOS_BENEFICIO } from './cadastros.ts';
import { municipioOf, nbsOf, paisOf, servicoOf } from './catalogs/catalogs.ts';
import type { Facts } from './facts.ts';
import { MARITIME } from './incidence.ts';
import type { Judged } from './judge.ts';
import type { Dps } from './layout/dps.ts';
import type { InfNfse } from './layout/nfse.ts';
import { normaliseDps } from './layout/normalise.ts';
import { writeNfse } from './layout/write.ts';
import { codigoSituacaoOf } from './nota.ts';

/** Version of this program on the note, at most 20 characters (`verAplic`). */
export const VER_APLIC = 'emissor-nfse-0.1';

/** The values that are known only once the note is numbered. */
export type Numbered = {
  readonly chave: string;
  readonly nNFSe: string;
  readonly nDFSe: string;
  readonly idDps: string;
  readonly serie: string;
  readonly nDPS: string;
  /** Emission and processing are the same instant here. */
  readonly dhEmi: string;
  readonly tpAmb: '1' | '2';
};

/** The unsigned NFS-e document, UTF-8, without white space between elements. */
export function composeNfse(dps: Dps, facts: Facts, judged: Judged, numbered: Numbered): string {
  const national = normaliseDps(dps, {
    tpAmb: numbered.tpAmb,
    dhEmi: numbered.dhEmi,
    serie: numbered.serie,
    nDPS: numbered.nDPS,
    cIndOp: judged.cIndOp,
  });
  return writeNfse(infNfseOf(dps, facts, judged, numbered), `NFS${numbered.chave}`, national, numbered.idDps);
}

function infNfseOf(dps: Dps, facts: Facts, judged: Judged, { nNFSe, nDFSe, dhEmi }: Numbered): InfNfse {
  const { amounts, cLocIncid } = judged;
  const { cServ } = dps.serv;
  const tipo = amounts.issqnShown ? beneficioOf(dps, facts)?.tipo : undefined;
  const tpBM = tipo && TIPOS_BENEFICIO[tipo];
  const municipal = cServ.cTribMun === undefined ? undefined : facts.servicoMunicipal(cServ.cTribMun, dps.dCompet);
  return {
    xLocEmi: nameOf(dps.cLocEmi),
    xLocPrestacao: placeName(dps),
    nNFSe,
    cLocIncid,
    xLocIncid: cLocIncid === undefined ? undefined : nameOf(cLocIncid),
    xTribNac: cut(servicoOf(cServ.cTribNac)?.descricao ?? cServ.cTribNac, 600),
    xTribMun: typeof municipal === 'object' ? cut(municipal.descricao, 600) : undefined,
    xNBS: describeNbs(cServ.cNBS),
    verAplic: VER_APLIC,
    ambGer: '1',
    tpEmis: '1',
    cStat: String(codigoSituacaoOf(dps.prest.regTrib.opSimpNac)),
    dhProc: dhEmi,
    nDFSe,
    emit: emitOf(dps, facts),
    valores: {
      vCalcDR: amounts.vCalcDR,
      tpBM,
      vCalcBM: amounts.vCalcBM,
      vBC: amounts.vBC,
      pAliqAplic: amounts.pAliqAplic,
      vISSQN: amounts.vISSQN,
      vTotalRet: amounts.vTotalRet,
      vLiq: amounts.vLiq,
    },
    xOutInf: noticeOf(dps),
    IBSCBS: judged.ibscbs,
  };
}

function emitOf(dps: Dps, { prestador }: Facts): InfNfse['emit'] {
  const municipio = municipioOf(dps.cLocEmi);
  const { endereco } = prestador;
  const isCompany = dps.prest.CNPJ !== undefined;
  return {
    CNPJ: isCompany ? prestador.documento : undefined,
    CPF: isCompany ? undefined : prestador.documento,
    IM: prestador.inscricaoMunicipal ?? dps.prest.IM,
    xNome: prestador.razaoSocial,
    xFant: prestador.nomeFantasia,
    enderNac: {
      xLgr: endereco.xLgr,
      nro: endereco.nro,
      xCpl: endereco.xCpl,
      xBairro: endereco.xBairro,
      cMun: dps.cLocEmi,
      UF: municipio?.uf ?? '',
      CEP: endereco.CEP,
    },
    fone: prestador.fone ?? dps.prest.fone,
    email: prestador.email ?? dps.prest.email,
  };
}

function placeName({ serv, cLocEmi }: Dps): string {
  const { cLocPrestacao, cPaisPrestacao } = serv.locPrest;
  if (cLocPrestacao === MARITIME) return 'Águas marítimas';
  if (cLocPrestacao !== undefined) return nameOf(cLocPrestacao);
  return (cPaisPrestacao && paisOf(cPaisPrestacao)?.nome) || nameOf(cLocEmi);
}

/** Scenarios 64 and 78 of the national export sheet: a service that is taxed at the taker's place, with a taker abroad. */
function noticeOf(dps: Dps): string | undefined {
  const isTakers = servicoOf(dps.serv.cServ.cTribNac)?.regra === 'ET';
  if (!isTakers || dps.valores.trib.tribMun.tribISSQN !== '1' || dps.toma?.end?.endExt === undefined) return undefined;
  return 'Tomador no exterior em serviço cujo imposto é devido no estabelecimento do tomador: incidência no local da prestação.';
}

function describeNbs(cNBS: string | undefined): string | undefined {
  const descricao = cNBS === undefined ? undefined : nbsOf(cNBS)?.descricao;
  return descricao === undefined ? undefined : cut(descricao, 600);
}

function nameOf(codigoIbge: string): string {
  return municipioOf(codigoIbge)?.nome ?? codigoIbge;
}

/**
 * Fits a description into its field of the note, which may be shorter. A municipal list may contain characters that the note's type
 * forbids, such as a line break or a typographic dash. The result neither begins nor ends with a space.
 */
function cut(text: string, max: number): string {
  const plain = text.replace(/[^ -ÿ]+/g, ' ').trim();
  return plain.length <= max ? plain : plain.slice(0, max).trimEnd();
}
