import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.xml.bind.*;

/** Reads answers with the classes that xjc made from the schemas (the arguments are their packages): a Base64 document a line in, a note a line out. */
public class Leitor {
  public static void main(String[] args) throws Exception {
    JAXBContext context = JAXBContext.newInstance(String.join(":", args));
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      byte[] document = Base64.getDecoder().decode(line.trim());
      Object nota = at(context.createUnmarshaller().unmarshal(new ByteArrayInputStream(document)), "CompNfse", "Nfse", "InfNfse");
      Object valores = at(nota, "Servico", "Valores");
      System.out.println(String.join(" ", said(nota, "Numero"), said(nota, "CodigoVerificacao"), said(nota, "Competencia"),
          said(valores, "ValorServicos"), said(valores, "BaseCalculo"), said(valores, "ValorIss")));
      System.out.flush();
    }
  }

  /** The value behind the getters of these names; null if it was not read. */
  static Object at(Object from, String... names) throws Exception {
    for (String name : names) from = from == null ? null : from.getClass().getMethod("get" + name).invoke(from);
    return from;
  }

  static String said(Object from, String name) throws Exception {
    return String.valueOf(at(from, name));
  }
}
