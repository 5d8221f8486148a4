/** The smallest DPS that is received; the tests read it. */
export const SMALLEST_DPS = `<?xml version="1.0" encoding="UTF-8"?>
<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">
  <infDPS Id="DPS355030821122233300018170000000000000000042">
    <tpAmb>2</tpAmb>
    <verAplic>MeuERP-3.2</verAplic>
    <dCompet>2026-11-20</dCompet>
    <tpEmit>1</tpEmit>
    <cLocEmi>3550308</cLocEmi>
    <prest>
      <CNPJ>11222333000181</CNPJ>
      <regTrib>
        <opSimpNac>1</opSimpNac>
        <regEspTrib>0</regEspTrib>
      </regTrib>
    </prest>
    <serv>
      <locPrest>
        <cLocPrestacao>3550308</cLocPrestacao>
      </locPrest>
      <cServ>
        <cTribNac>010101</cTribNac>
        <xDescServ>Desenvolvimento de sistema</xDescServ>
        <cNBS>115021000</cNBS>
      </cServ>
    </serv>
    <valores>
      <vServPrest>
        <vServ>1000.00</vServ>
      </vServPrest>
      <trib>
        <tribMun>
          <tribISSQN>1</tribISSQN>
          <tpRetISSQN>1</tpRetISSQN>
        </tribMun>
        <totTrib>
          <indTotTrib>0</indTotTrib>
        </totTrib>
      </trib>
    </valores>
    <IBSCBS>
      <valores>
        <trib>
          <gIBSCBS>
            <CST>000</CST>
            <cClassTrib>000001</cClassTrib>
          </gIBSCBS>
        </trib>
      </valores>
    </IBSCBS>
  </infDPS>
</DPS>
`;

/** The smallest JSON body, with the same declaration; the tests read it. */
export const SMALLEST_BODY = `{
  "data_competencia": "2026-11-20",
  "municipio_emissor": "3550308",
  "prestador_cpf_cnpj": "11222333000181",
  "prestador_opcao_simples_nacional": "1",
  "municipio_prestacao": "3550308",
  "codigo_tributacao_nacional": "010101",
  "descricao_servico": "Desenvolvimento de sistema",
  "codigo_nbs": "115021000",
  "valor_servico": 1000.00,
  "tributacao_issqn": "1",
  "ibscbs": { "CST": "000", "cClassTrib": "000001" }
}
`;
